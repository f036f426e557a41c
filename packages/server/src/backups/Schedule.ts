import { Cause, Clock, Duration, Effect, Layer, Option } from "effect"
import { ServerConfig } from "../Config.js"
import { Backups } from "./Backups.js"

const retryMillis = Duration.toMillis("15 minutes")

/**
 * Makes a backup when the newest scheduled one in the store is older than the interval, so that a restart neither skips nor
 * repeats one. Retries 15 minutes after a failure.
 */
export const BackupScheduleLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { backups: settings, metricsPort } = yield* ServerConfig
    if (settings === null) return
    const backups = yield* Backups
    if (settings.scheduleHours === 0) {
      // Without a schedule, nothing else lists the store, and the metric of the newest backup's age would be missing.
      if (metricsPort !== null) yield* Effect.forkScoped(Effect.ignore(backups.lastScheduled))
      return
    }
    const interval = Duration.toMillis(Duration.hours(settings.scheduleHours))

    /** Makes a backup if one is due. Returns the milliseconds until the next check. */
    const backUpIfDue = Effect.gen(function* () {
      const current = yield* Clock.currentTimeMillis
      const last = Option.getOrElse(yield* backups.lastScheduled, () => current - interval)
      // A backup from the future means that the clock was wrong. Do not wait for that time.
      if (last <= current && last + interval > current) return last + interval - current
      yield* backups.scheduled
      return interval
    }).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.failCause(cause)
          : Effect.as(
              Effect.logError(
                "a scheduled backup failed; retrying in 15 minutes",
                ...(Cause.isFailure(cause) ? [] : [cause])
              ),
              retryMillis
            )
      )
    )
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(backUpIfDue, (millis) => Effect.sleep(millis))))
  })
)
