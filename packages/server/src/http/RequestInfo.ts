import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { Context, Option } from "effect"
import { randomUUID } from "node:crypto"
import { isIP } from "node:net"

const validId = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the incoming request id if it is a valid token, or a new id. */
export const requestId = (incoming: string | ReadonlyArray<string> | undefined): string =>
  typeof incoming === "string" && validId.test(incoming) ? incoming : randomUUID()

/** The facts of a request for the log and the audit trail. The route and the actor are set once they are known. */
export interface RequestInfoShape {
  readonly id: string
  readonly ip: string | null
  /** The client program by its own claim: recorded, never trusted. */
  readonly client: string | null
  route: string | null
  actor: string | null
}

/** The default is for work outside of a request, such as maintenance. */
export class RequestInfo extends Context.Reference<RequestInfo>()("@coffer/server/RequestInfo", {
  defaultValue: (): RequestInfoShape => ({ id: "", ip: null, client: null, route: null, actor: null })
}) {}

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

const clientOf = (request: HttpServerRequest): string | null => {
  const client = request.headers["x-coffer-client"]
  return client !== undefined && /^[a-z0-9-]{1,32}$/.test(client) ? client : null
}

export const infoOf = (request: HttpServerRequest): RequestInfoShape => ({
  id: requestId(request.headers["x-request-id"]),
  ip: addressOf(request),
  client: clientOf(request),
  route: null,
  actor: null
})
