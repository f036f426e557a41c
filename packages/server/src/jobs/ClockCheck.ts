import { Clock, Effect, Layer } from "effect"
import { Database } from "../database/Database.js"
import { timestamp } from "../database/Time.js"

const toleratedMillis = 2_000

/** Warns at the start if the clocks of this server and of the database differ. */
export const ClockCheckLive = Layer.effectDiscard(
  Effect.gen(function* () {
    const { clock, isShared } = yield* Database
    if (!isShared) return
    const before = yield* Clock.currentTimeMillis
    const theirs = yield* clock
    const ours = Math.round((before + (yield* Clock.currentTimeMillis)) / 2)
    const difference = Math.abs(theirs - ours)
    if (difference <= toleratedMillis) return
    yield* Effect.logWarning(
      `the clocks differ by ${(difference / 1000).toFixed(1)} seconds: this server's says ${timestamp(ours)}, the database's ${timestamp(theirs)}; set both by NTP`
    )
  })
)
