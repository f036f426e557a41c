import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { StartupError } from "../../base/StartupError.js"
import { hasChangedNothing } from "../Unavailable.js"

/** The database was lost, or had no free connection, while a server started. */
class LostAtStart extends Data.TaggedError("LostAtStart") {}

const isLost = (error: unknown): error is LostAtStart => error instanceof LostAtStart

/** Starts a server again, for a minute, as long as its start finds no database. */
export const startingAgain = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
  start.pipe(
    Effect.catchSomeDefect((defect) => (hasChangedNothing(defect) ? Option.some(new LostAtStart()) : Option.none())),
    Effect.tapError((error) =>
      isLost(error)
        ? Console.error("coffer-server: the database was lost during the start: starting again")
        : Effect.void
    ),
    Effect.retry({ while: isLost, schedule: Schedule.spaced("1 second").pipe(Schedule.upTo("1 minute")) }),
    Effect.mapError((error) =>
      isLost(error)
        ? new StartupError({
            message: "the database was lost during the start, again and again for a minute: check that it runs"
          })
        : error
    )
  )
