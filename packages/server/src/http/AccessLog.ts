import { Effect } from "effect"
import type { RequestInfoShape } from "./RequestInfo.js"

/** What the log says of one request; the loggers write its fields, or a line of them. */
export class AccessEntry {
  constructor(
    readonly fields: {
      readonly method: string
      /** The route's pattern: a path would name tenants and keys. */
      readonly route: string
      readonly status: number
      /** Milliseconds, to a tenth. */
      readonly ms: number
      readonly request: string
      readonly actor: string
    }
  ) {}

  toString(): string {
    return `${this.fields.method} ${this.fields.route} ${this.fields.status}`
  }
}

/**
 * One line for each request: method, the route's pattern, status, time, request id and actor id. Probes of health are only
 * of interest while debugging.
 */
export const logAccess = (
  method: string,
  { actor, id, route }: RequestInfoShape,
  status: number,
  millis: number
): Effect.Effect<void> => {
  const log = route?.startsWith("/health") === true ? Effect.logDebug : Effect.logInfo
  const ms = Math.round(millis * 10) / 10
  return log(new AccessEntry({ method, route: route ?? "-", status, ms, request: id, actor: actor ?? "-" }))
}
