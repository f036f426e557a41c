import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Database } from "../Database.js"
import { timestamp } from "../../base/Time.js"
import { CorrectedClock } from "./CorrectedClock.js"

const toleratedMillis = 2_000
const checkEvery = "1 minute"

const seconds = (millis: number): string => (Math.abs(millis) / 1000).toFixed(1)

/**
 * Compares the clocks of this server and of the database, at the start and then every minute. If they differ, warns and
 * takes the database's time.
 */
export const ClockCheckLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { clock, isShared } = yield* Database
    if (!isShared) return
    const own = yield* Effect.clock
    const corrected = own instanceof CorrectedClock ? own : new CorrectedClock()

    const check = Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const theirs = yield* clock
      const after = yield* Clock.currentTimeMillis
      // A slow answer says too little about the time.
      if (after - before > toleratedMillis) return
      const { correction } = corrected
      const ours = Math.round((before + after) / 2) - correction
      const difference = theirs - ours
      const wanted = Math.abs(difference) <= toleratedMillis ? 0 : difference
      if (Math.abs(wanted - correction) <= toleratedMillis) return
      corrected.correction = wanted
      yield* wanted === 0
        ? Effect.logInfo("this server's clock is right again")
        : Effect.logWarning(
            `the clocks differ by ${seconds(difference)} seconds: this server's says ${timestamp(ours)}, the database's ${timestamp(theirs)}, which is taken; set both by NTP`
          )
    })

    yield* check
    yield* check.pipe(
      Effect.catchAllCause((cause) => Effect.logDebug("the clocks could not be compared", cause)),
      Effect.schedule(Schedule.spaced(checkEvery)),
      Effect.interruptible,
      Effect.forkScoped
    )
  })
)
