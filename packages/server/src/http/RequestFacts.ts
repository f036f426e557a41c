import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import type { BlockList } from "node:net"
import type { RequestInfoShape } from "../base/RequestInfo.js"
import { clientAddress } from "./ClientAddress.js"
import { isVaultPath } from "./vault/Target.js"

const validId = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the incoming request id if it is a valid token, or a new id. */
export const requestId = (incoming: string | ReadonlyArray<string> | undefined): string =>
  typeof incoming === "string" && validId.test(incoming) ? incoming : randomUUID()

/** `cli` and `mcp` are programs of ours, `app/shop 1.4.0` is an application with its version. */
const programPattern = /^(?:[a-z0-9-]{1,32}|app\/[A-Za-z0-9][A-Za-z0-9._-]{0,31}(?: [A-Za-z0-9._+-]{1,32})?)$/

const clientOf = (request: HttpServerRequest): string | null => {
  if (isVaultPath(request.url)) return "vault"
  const client = request.headers["x-coffer-client"]
  return client !== undefined && programPattern.test(client) ? client : null
}

/** Reads the facts of a request from its headers and its connection. */
export const infoOf = (request: HttpServerRequest, proxies: BlockList | null): RequestInfoShape => ({
  id: requestId(request.headers["x-request-id"]),
  ip: clientAddress(proxies, {
    peer: Option.getOrUndefined(request.remoteAddress),
    realIp: request.headers["x-real-ip"],
    forwardedFor: request.headers["x-forwarded-for"]
  }),
  client: clientOf(request),
  userAgent: request.headers["user-agent"],
  isPrefetch: request.headers["purpose"] === "prefetch",
  startedAt: performance.now(),
  route: null,
  actor: null
})
