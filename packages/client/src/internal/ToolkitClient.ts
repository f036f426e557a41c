import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import { type HttpClientError, RequestError, ResponseError } from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { errorCodes } from "@coffer/domain/errors/Errors"
import { unknownApiError } from "./ApiFailure.js"
import type { ClientError } from "./ClientErrors.js"
import type { Exchange } from "./Exchange.js"
import { type HttpResponse, textOf } from "./Send.js"

/** The fiber's last response. The toolkit's decode error does not contain it. */
export const lastResponse = FiberRef.unsafeMake<Option.Option<HttpResponse>>(Option.none())

/** A response whose body has been read. The toolkit's own needs `fetch`. */
class BufferedResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly status: number
  readonly headers: Headers.Headers
  readonly remoteAddress = Option.none()
  readonly cookies = Cookies.empty

  constructor(
    readonly request: HttpClientRequest,
    private readonly response: HttpResponse
  ) {
    super()
    this.status = response.status
    this.headers = Headers.fromInput(response.headers)
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, { request: this.request.toJSON(), status: this.status })
  }

  get text() {
    return Effect.sync(() => textOf(this.response))
  }

  /** Fails without the cause, which may repeat the text. */
  get json(): Effect.Effect<unknown, ResponseError> {
    return Effect.tryMap(this.text, {
      try: (text): unknown => (text === "" ? null : JSON.parse(text)),
      catch: () => this.undecodable
    })
  }

  get arrayBuffer() {
    return Effect.sync(() => new Uint8Array(this.response.body).buffer)
  }

  get urlParamsBody() {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get stream() {
    return Stream.succeed(this.response.body)
  }

  get formData(): Effect.Effect<never, ResponseError> {
    return Effect.fail(this.undecodable)
  }

  private get undecodable(): ResponseError {
    return new ResponseError({ request: this.request, response: this, reason: "Decode" })
  }
}

/** The toolkit's HTTP client over an exchange. Errors of the contract are responses, which the toolkit decodes. */
export const toolkitClient = (exchange: Exchange): HttpClient.HttpClient.With<ClientError | HttpClientError> => {
  const send = Effect.fnUntraced(function* (request: HttpClientRequest) {
    const { body, headers, method } = request
    if (body._tag !== "Empty" && body._tag !== "Uint8Array") {
      return yield* new RequestError({ request, reason: "Encode", description: `a body of type ${body._tag}` })
    }
    const url = yield* Either.mapLeft(
      UrlParams.makeUrl(request.url, request.urlParams, request.hash),
      (cause) => new RequestError({ request, reason: "InvalidUrl", cause })
    )
    const response = yield* exchange
      .send({ url, method, headers, ...(body._tag === "Uint8Array" && { body: body.body }) })
      .pipe(
        Effect.catchTag("Refused", (refused) =>
          errorCodes.has(refused.code) ? Effect.succeed(refused.response) : Effect.fail(unknownApiError(refused))
        )
      )
    yield* FiberRef.set(lastResponse, Option.some(response))
    return new BufferedResponse(request, response)
  })
  return HttpClient.makeWith(
    (request: Effect.Effect<HttpClientRequest>) => Effect.flatMap(request, send),
    Effect.succeed
  )
}
