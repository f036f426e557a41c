import { Cause, Clock, Duration, Effect, Layer, Option } from "effect"
import { ServerConfig } from "../Config.js"
import { Backups } from "./Backups.js"

const retryMillis = Duration.toMillis("15 minutes")

/**
 * Makes a backup whenever the newest scheduled one in the store is older than the configured interval: a restart neither
 * skips nor repeats one. After a failure, which is logged, it tries again in 15 minutes.
 */
export const BackupScheduleLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { backups: settings, metricsPort } = yield* ServerConfig
    if (settings === null) return
    const backups = yield* Backups
    if (settings.scheduleHours === 0) {
      // Nobody else asks the store at the start, and whoever watches wants to know how old the newest backup is.
      if (metricsPort !== null) yield* Effect.forkScoped(Effect.ignore(backups.lastScheduled))
      return
    }
    const interval = Duration.toMillis(Duration.hours(settings.scheduleHours))

    /** Answers how many milliseconds it is until the next turn. */
    const turn = Effect.gen(function* () {
      const current = yield* Clock.currentTimeMillis
      const last = Option.getOrElse(yield* backups.lastScheduled, () => current - interval)
      // One of the future tells that a clock was wrong; waiting for it could take years.
      if (last <= current && last + interval > current) return last + interval - current
      yield* backups.scheduled
      return interval
    }).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.failCause(cause)
          : Effect.as(
              Effect.logError(
                "a scheduled backup was not made; the next try is in 15 minutes",
                ...(Cause.isFailure(cause) ? [] : [cause])
              ),
              retryMillis
            )
      )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(turn, (millis) => Effect.sleep(millis))))
  })
)
