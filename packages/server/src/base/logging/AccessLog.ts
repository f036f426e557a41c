import * as Context from "effect/Context"
import type { RequestInfoShape } from "../RequestInfo.js"

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

/** Requests that are logged at level debug: health probes, and rate-limited requests, which could flood the log. */
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

/** Writes one line for each request. It bypasses Effect's loggers, which would cost too much for every request. */
export class AccessLog extends Context.Tag("@coffer/server/AccessLog")<
  AccessLog,
  (method: string, info: RequestInfoShape, status: number, millis: number) => void
>() {}
