import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Settings } from "../../base/Config.js"
import { timestamp } from "../../base/Time.js"

const minute = 60_000
const hour = 60 * minute

/** A session expires after 30 days, even when it is in use. */
export const sessionMillis = 30 * 24 * hour
/** A browser's session also expires after 12 hours without a request. */
export const idleMillis = 12 * hour
/** How long after the proof of who they are a person may do what needs a recent login. */
export const recentMillis = 15 * minute

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

/** The parameter of `liveDelegation`. */
export const delegationLimit = ({ delegationMaxHours }: Pick<Settings, "delegationMaxHours">) => ({
  maxMillis: delegationMaxHours * hour
})

/** Whether a proof is so recent that it still counts for the most sensitive calls. */
export const isRecentLogin = (provenAt: string, millis: number): boolean => provenAt > timestamp(millis - recentMillis)
