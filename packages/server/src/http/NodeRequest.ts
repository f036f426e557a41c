import type { AnyApiError } from "@coffer/domain/Errors"
import { type Headers, HttpIncomingMessage, type HttpMethod, HttpServerRequest } from "@effect/platform"
import { Effect, Inspectable, Option, Stream } from "effect"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { TooSlow } from "./Body.js"
import type { Hold } from "./Held.js"
import { infoOf, type RequestInfoShape } from "./RequestInfo.js"

/** Node's headers have the toolkit's form: lowercase names, one string each except for `set-cookie`. */
const areHeaders = (headers: IncomingHttpHeaders): headers is Headers.Headers => headers["set-cookie"] === undefined

/**
 * `Set-Cookie` belongs to responses and is ignored. The toolkit would choose a decoder by the content type: every body is
 * JSON here, and `readBody` refuses other types.
 */
const headersOf = (headers: IncomingHttpHeaders): Headers.Headers => {
  const type = headers["content-type"]
  if (areHeaders(headers) && (type === undefined || type === "application/json")) return headers
  const { "content-type": _, "set-cookie": __, ...others } = headers
  return headersOf(others)
}

/** The router finds no route for an unknown method. */
const isMethod = (method: string): method is HttpMethod.HttpMethod => method !== ""

const unread = Effect.dieMessage("the body of a request is read as JSON, once the call is admitted")

/** Node's request in the toolkit's form, with what the server tracks while it is served. */
export class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly headers: Headers.Headers
  readonly method: HttpMethod.HttpMethod
  readonly url: string
  readonly info: RequestInfoShape
  /** Checks the caller's right and reads the body. Set when the call is admitted. */
  body: Effect.Effect<unknown, AnyApiError | TooSlow> = unread
  /** The memory that the body takes. Released when the handler has ended. */
  bodyHold: Hold | null = null
  /** The memory that the response takes. Released when the response has left or its connection is closed. */
  responseHold: Hold | null = null
  /** Lets the next large answer be made. */
  endLargeAnswer: Effect.Effect<void> | null = null

  constructor(readonly source: IncomingMessage) {
    super()
    const method = source.method ?? ""
    this.method = isMethod(method) ? method : "GET"
    this.url = source.url ?? "/"
    this.headers = headersOf(source.headers)
    this.info = infoOf(this)
  }

  /** The request that a fiber serves. */
  static readonly current: Effect.Effect<NodeRequest, never, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      request instanceof NodeRequest
        ? Effect.succeed(request)
        : Effect.dieMessage("the request is not from Node's server")
  )

  get originalUrl(): string {
    return this.url
  }
  get remoteAddress(): Option.Option<string> {
    return Option.fromNullable(this.source.socket.remoteAddress)
  }
  /** The toolkit makes defects of failures here; the boundary returns them as what they are. */
  get json() {
    return Effect.orDie(this.body)
  }
  get urlParamsBody() {
    return unread
  }
  get text() {
    return unread
  }
  get arrayBuffer() {
    return unread
  }
  get multipart() {
    return unread
  }
  get multipartStream() {
    return Stream.die("the body of a request is not a form")
  }
  get stream() {
    return Stream.die("the body of a request is not a stream")
  }
  get upgrade() {
    return Effect.dieMessage("a request is not upgraded")
  }
  get cookies() {
    return {}
  }

  /** No route has a prefix, so the router never changes a request. */
  modify(): this {
    return this
  }

  toJSON(): unknown {
    return { _id: "@coffer/server/NodeRequest", method: this.method }
  }
}
