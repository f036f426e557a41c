import { Context } from "effect"
import type { RequestInfoShape } from "./RequestInfo.js"

/** What the log says of one request. */
export interface AccessFields {
  readonly method: string
  /** The route's pattern: a path would name tenants and keys. */
  readonly route: string
  readonly status: number
  /** Milliseconds, to a tenth. */
  readonly ms: number
  readonly request: string
  readonly actor: string
}

export const isProbe = (route: string): boolean => route.startsWith("/health")

/**
 * Requests that are only of interest while debugging: probes of health, and what a limit refuses, which is counted instead:
 * nobody should fill the log by asking too often.
 */
export const isQuiet = ({ route, status }: Pick<AccessFields, "route" | "status">): boolean =>
  isProbe(route) || status === 429

export const accessFields = (
  method: string,
  { actor, id, route }: RequestInfoShape,
  status: number,
  millis: number
): AccessFields => ({
  method,
  route: route ?? "-",
  status,
  ms: Math.round(millis * 10) / 10,
  request: id,
  actor: actor ?? "-"
})

/**
 * Writes one line for each request: method, the route's pattern, status, time, request id and actor id. At once, and not by
 * way of the fiber's loggers: each request has one.
 */
export class AccessLog extends Context.Tag("@coffer/server/AccessLog")<
  AccessLog,
  (method: string, info: RequestInfoShape, status: number, millis: number) => void
>() {}
