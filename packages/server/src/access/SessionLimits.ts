import { Clock, Effect } from "effect"
import { timestamp } from "../base/Time.js"

const minute = 60_000
const hour = 60 * minute

/** A session expires after 30 days, even when it is in use. */
export const sessionMillis = 30 * 24 * hour
/** A browser's session also expires after 12 hours without a request. */
export const idleMillis = 12 * hour
/** How long after a login a browser may do what needs a recent one. */
const recentMillis = 15 * minute

/** The parameters of `liveSession`. */
export interface SessionLimits {
  readonly bornAfter: string
  readonly usedAfter: string
}

export const sessionLimitsAt = (millis: number): SessionLimits => ({
  bornAfter: timestamp(millis - sessionMillis),
  usedAfter: timestamp(millis - idleMillis)
})

export const sessionLimits: Effect.Effect<SessionLimits> = Effect.map(Clock.currentTimeMillis, sessionLimitsAt)

/** Whether a login is so recent that it still counts for the most sensitive calls. */
export const isRecentLogin = (createdAt: string, millis: number): boolean =>
  createdAt > timestamp(millis - recentMillis)
