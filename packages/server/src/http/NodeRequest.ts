import type { AnyApiError } from "@coffer/domain/errors/Errors"
import * as Headers from "@effect/platform/Headers"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import type { BlockList } from "node:net"
import type { TooSlow } from "./Body.js"
import type { ResponseMemory } from "./LargeResponses.js"
import { infoOf } from "./RequestFacts.js"
import type { RequestInfoShape } from "../base/RequestInfo.js"
import type { TenantShape } from "../base/Tenant.js"
import { withService } from "../base/WithService.js"
import { clientNetwork } from "../database/limits/ClientNetwork.js"
import { routedMethod, routedUrl } from "./vault/Target.js"

/**
 * Drops `Set-Cookie`, which belongs to responses, and other content types than JSON: the toolkit would choose a decoder by
 * them, but `readBody` accepts JSON only.
 */
const headersOf = ({ "set-cookie": _, ...headers }: IncomingHttpHeaders): Headers.Headers => {
  const { "content-type": type, ...others } = headers
  return Headers.fromInput(type === undefined || type === "application/json" ? headers : others)
}

const unread = Effect.dieMessage("the body of a request is read as JSON, after the call is admitted")

/** Adapts Node's request to the toolkit, and holds the server's state of the request. */
export class NodeRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly headers: Headers.Headers
  /** The method for the router: GET for one that the toolkit does not know, which the boundary refuses. */
  readonly method: HttpMethod.HttpMethod
  readonly sentMethod: string
  readonly url: string
  readonly info: RequestInfoShape
  /** The client's network, until admission knows the organization and the caller. */
  readonly tenant: TenantShape
  readonly memory: ResponseMemory
  /** Checks the caller's right and reads the body. Set by admission. */
  body: Effect.Effect<unknown, AnyApiError | TooSlow> = unread
  /** Whether the response can hold no secret, so that it may be compressed. Set by admission. */
  isCompressible = false
  /** Whether an unchanged response is answered by 304. Set by admission. */
  isPolled = false

  constructor(
    readonly source: IncomingMessage,
    memoryOf: (tenant: TenantShape) => ResponseMemory,
    proxies: BlockList | null = null
  ) {
    super()
    const url = source.url ?? "/"
    this.sentMethod = source.method ?? ""
    const method = routedMethod(this.sentMethod, url)
    this.method = HttpMethod.isHttpMethod(method) ? method : "GET"
    this.url = routedUrl(url)
    this.headers = headersOf(source.headers)
    this.info = infoOf(this, proxies)
    this.tenant = { name: clientNetwork(this.info.ip) }
    this.memory = memoryOf(this.tenant)
  }

  /** The request of the current fiber. */
  static readonly current: Effect.Effect<NodeRequest, never, HttpServerRequest.HttpServerRequest> = withService(
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
  /** The toolkit expects its own error type here. The boundary turns the defect back into the API error. */
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
    return { _id: "@coffer/server/NodeRequest", method: this.sentMethod }
  }
}
