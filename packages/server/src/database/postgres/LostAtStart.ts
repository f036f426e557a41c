import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { isLockTimeout } from "../../base/Reason.js"
import { StartupError } from "../../base/StartupError.js"
import { DatabaseUnavailable, hasChangedNothing } from "../Unavailable.js"

/** The database was lost, had no free connection, or took too long to answer while a server started. */
class LostAtStart extends Data.TaggedError("LostAtStart")<{ readonly isSlow: boolean }> {}

const lostBy = (defect: unknown): Option.Option<LostAtStart> => {
  const isSlow = isLockTimeout(defect) || (defect instanceof DatabaseUnavailable && defect.isSlow === true)
  return isSlow || hasChangedNothing(defect) ? Option.some(new LostAtStart({ isSlow })) : Option.none()
}

const isLost = (error: unknown): error is LostAtStart => error instanceof LostAtStart

/** Starts a server again, for a minute, as long as its start finds no database. */
export const startingAgain = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
  start.pipe(
    Effect.catchSomeDefect(lostBy),
    Effect.tapError((error) =>
      isLost(error)
        ? Console.error(
            error.isSlow
              ? "coffer-server: the database took more than 30 seconds to answer a statement of the start: starting again"
              : "coffer-server: the database was lost during the start: starting again"
          )
        : Effect.void
    ),
    Effect.retry({ while: isLost, schedule: Schedule.spaced("1 second").pipe(Schedule.upTo("1 minute")) }),
    Effect.mapError((error) =>
      isLost(error)
        ? new StartupError({
            message: error.isSlow
              ? "the database answers too slowly to start, again and again for a minute: check its load and the locks of its sessions (pg_stat_activity)"
              : "the database was lost during the start, again and again for a minute: check that it runs"
          })
        : error
    )
  )
