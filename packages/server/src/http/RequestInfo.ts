import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { Context, Option } from "effect"
import { randomUUID } from "node:crypto"
import { isIP } from "node:net"

const saneId = /^[A-Za-z0-9._-]{1,128}$/

/** The id that a request brought, when it is a sane token; else a new one. */
export const requestId = (incoming: string | ReadonlyArray<string> | undefined): string =>
  typeof incoming === "string" && saneId.test(incoming) ? incoming : randomUUID()

/** What the log and the audit trail say of a request; the route and the actor are filled in as they become known. */
export interface RequestInfoShape {
  readonly id: string
  readonly ip: string | null
  /** Which program asks, in its own words: recorded, never trusted. */
  readonly client: string | null
  route: string | null
  actor: string | null
}

/** Outside of a request, as in maintenance, there is none. */
export class RequestInfo extends Context.Reference<RequestInfo>()("@coffer/server/RequestInfo", {
  defaultValue: (): RequestInfoShape => ({ id: "", ip: null, client: null, route: null, actor: null })
}) {}

/**
 * An address without what is not part of it: the prefix of an IPv4 address that an IPv6 socket took, and the zone, which names
 * an interface of the machine that wrote it and may be of any length.
 */
const unmapped = (address: string): string =>
  address.replace(/%\S*$/, "").replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "")

const asAddress = (text: string | undefined): string | null => {
  if (text === undefined) return null
  const address = unmapped(text.trim())
  return isIP(address) === 0 ? null : address
}

/** What the proxy says the client's address is, when it is an address at all; else the connection's own. */
const addressOf = (request: HttpServerRequest): string | null =>
  asAddress(request.headers["x-real-ip"]) ??
  asAddress(request.headers["x-forwarded-for"]?.split(",", 1)[0]) ??
  Option.getOrNull(Option.map(request.remoteAddress, unmapped))

const clientOf = (request: HttpServerRequest): string | null => {
  const client = request.headers["x-coffer-client"]
  return client !== undefined && /^[a-z0-9-]{1,32}$/.test(client) ? client : null
}

/** What is known of a request when it arrives. */
export const infoOf = (request: HttpServerRequest): RequestInfoShape => ({
  id: requestId(request.headers["x-request-id"]),
  ip: addressOf(request),
  client: clientOf(request),
  route: null,
  actor: null
})
