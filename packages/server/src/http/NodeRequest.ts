import { type Headers, HttpIncomingMessage, type HttpMethod, HttpServerRequest } from "@effect/platform"
import { Effect, Inspectable, Option, Stream } from "effect"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

/** Node's are what the toolkit wants: names in lowercase, one text each but for `set-cookie`. */
const areHeaders = (headers: IncomingHttpHeaders): headers is Headers.Headers => headers["set-cookie"] === undefined

/** The headers of a request. `Set-Cookie` belongs to answers and is passed over. */
const headersOf = (headers: IncomingHttpHeaders): Headers.Headers => {
  if (areHeaders(headers)) return headers
  const { "set-cookie": _, ...others } = headers
  return headersOf(others)
}

/** The router finds no way for a method that it does not know. */
const isMethod = (method: string): method is HttpMethod.HttpMethod => method !== ""

const unread = Effect.dieMessage("the body of a request is read as JSON, and by its call")

/** A request as the toolkit sees it; its body is read from Node's own, see `Body.ts`. */
export class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly headers: Headers.Headers
  readonly method: HttpMethod.HttpMethod
  readonly url: string

  constructor(readonly source: IncomingMessage) {
    super()
    const method = source.method ?? ""
    this.method = isMethod(method) ? method : "GET"
    this.url = source.url ?? "/"
    this.headers = headersOf(source.headers)
  }

  get originalUrl(): string {
    return this.url
  }
  get remoteAddress(): Option.Option<string> {
    return Option.fromNullable(this.source.socket.remoteAddress)
  }
  get json() {
    return unread
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
    return Stream.die("the body of a request is no form")
  }
  get stream() {
    return Stream.die("the body of a request is no stream")
  }
  get upgrade() {
    return Effect.dieMessage("a request is not upgraded")
  }
  get cookies() {
    return {}
  }

  /** No route has a prefix and nobody takes a request for another: it stays what came. */
  modify(): this {
    return this
  }

  toJSON(): unknown {
    return { _id: "@coffer/server/NodeRequest", method: this.method }
  }
}
