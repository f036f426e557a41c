import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import { RequestError, ResponseError } from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { NodeResponse, Send } from "./NodeRequest.js"

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
    private readonly response: NodeResponse
  ) {
    super()
    this.status = response.status
    this.headers = Headers.fromInput(response.headers)
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, { request: this.request.toJSON(), status: this.status })
  }

  get text() {
    return Effect.sync(() => this.response.body.toString("utf8"))
  }

  get json(): Effect.Effect<unknown, ResponseError> {
    return Effect.tryMap(this.text, {
      try: (text): unknown => (text === "" ? null : JSON.parse(text)),
      // Without the cause: it may repeat the text.
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
    return Stream.succeed<Uint8Array>(this.response.body)
  }

  get formData(): Effect.Effect<never, ResponseError> {
    return Effect.fail(this.undecodable)
  }

  private get undecodable(): ResponseError {
    return new ResponseError({ request: this.request, response: this, reason: "Decode" })
  }
}

/** The toolkit's HTTP client, over `send`. */
export const nodeHttpClient = (send: Send): HttpClient.HttpClient =>
  HttpClient.make((request, url) => {
    const { body, headers, method } = request
    if (body._tag !== "Empty" && body._tag !== "Uint8Array") {
      return Effect.fail(new RequestError({ request, reason: "Encode", description: `a body of type ${body._tag}` }))
    }
    return send({ url, method, headers, ...(body._tag === "Uint8Array" && { body: body.body }) }).pipe(
      Effect.mapError((cause) => new RequestError({ request, reason: "Transport", cause })),
      Effect.map((response) => new BufferedResponse(request, response))
    )
  })
