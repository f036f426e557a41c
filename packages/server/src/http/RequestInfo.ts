import { Context } from "effect"
import { randomUUID } from "node:crypto"

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
