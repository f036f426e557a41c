import { Effect } from "effect"
import type { RequestInfoShape } from "./RequestInfo.js"

/**
 * One line for each request: method, the route's pattern (a path would name tenants), status, time, request id and actor
 * id. Probes of health are only of interest while debugging.
 */
export const logAccess = (
  method: string,
  info: RequestInfoShape,
  status: number,
  millis: number
): Effect.Effect<void> => {
  const log = info.route?.startsWith("/health") === true ? Effect.logDebug : Effect.logInfo
  return log(`${method} ${info.route ?? "-"} ${status}`).pipe(
    Effect.annotateLogs({ ms: Math.round(millis * 10) / 10, request: info.id, actor: info.actor ?? "-" })
  )
}
