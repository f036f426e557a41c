import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import { isIP } from "node:net"
import type { RequestInfoShape } from "../base/RequestInfo.js"
import { isVaultPath } from "./vault/Target.js"

const validId = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the incoming request id if it is a valid token, or a new id. */
export const requestId = (incoming: string | ReadonlyArray<string> | undefined): string =>
  typeof incoming === "string" && validId.test(incoming) ? incoming : randomUUID()

/** Removes the prefix of an IPv4-mapped IPv6 address, and the zone, which may have any length. */
const normalized = (address: string): string =>
  address.replace(/%\S*$/, "").replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")

const asAddress = (text: string | undefined): string | null => {
  if (text === undefined) return null
  const address = normalized(text.trim())
  return isIP(address) === 0 ? null : address
}

/** The client's address by the proxy's headers if it is valid, or else the address of the connection. */
const addressOf = (request: HttpServerRequest): string | null =>
  asAddress(request.headers["x-real-ip"]) ??
  asAddress(request.headers["x-forwarded-for"]?.split(",", 1)[0]) ??
  Option.getOrNull(Option.map(request.remoteAddress, normalized))

/** `cli` and `mcp` are programs of ours, `app/shop 1.4.0` is an application with its version. */
const programPattern = /^(?:[a-z0-9-]{1,32}|app\/[A-Za-z0-9][A-Za-z0-9._-]{0,31}(?: [A-Za-z0-9._+-]{1,32})?)$/

const clientOf = (request: HttpServerRequest): string | null => {
  if (isVaultPath(request.url)) return "vault"
  const client = request.headers["x-coffer-client"]
  return client !== undefined && programPattern.test(client) ? client : null
}

/** Reads the facts of a request from its headers and its connection. */
export const infoOf = (request: HttpServerRequest): RequestInfoShape => ({
  id: requestId(request.headers["x-request-id"]),
  ip: addressOf(request),
  client: clientOf(request),
  userAgent: request.headers["user-agent"],
  route: null,
  actor: null
})
