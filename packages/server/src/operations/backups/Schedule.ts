import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ServerConfig } from "../../base/Config.js"
import { Database } from "../../database/Database.js"
import { Jobs } from "../../database/jobs/Jobs.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { Backups } from "./Backups.js"

const retryMillis = Duration.toMillis("15 minutes")
/** When to look again while another server makes the backup. */
const busyMillis = Duration.toMillis("1 minute")

/**
 * Makes a backup when the newest scheduled one in the store is older than the interval, so that a restart neither skips nor
 * repeats one. Retries 15 minutes after a failure. With several servers, the one that has the lease looks and makes it.
 */
export const BackupScheduleLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { backups: settings, metricsPort } = yield* ServerConfig
    if (settings === null) return
    const backups = yield* Backups
    const jobs = yield* Jobs
    const { clock } = yield* Database
    if (settings.scheduleHours === 0) {
      // Without a schedule, nothing else lists the store, and the metric of the newest backup's age would be missing.
      if (metricsPort !== null) yield* Effect.forkScoped(Effect.ignore(backups.lastScheduled))
      return
    }
    const interval = Duration.toMillis(Duration.hours(settings.scheduleHours))

    /** Makes a backup if one is due. Returns the milliseconds until the next check. */
    const backUpIfDue = (fenced: Fenced) =>
      Effect.gen(function* () {
        const current = yield* clock
        const last = Option.getOrElse(yield* backups.lastScheduled, () => current - interval)
        // A backup from the future means that the clock was wrong. Do not wait for that time.
        if (last <= current && last + interval > current) return last + interval - current
        yield* backups.scheduled(fenced)
        return interval
      })

    const round = jobs.runAlone({ name: "backup", lease: "2 minutes" }, backUpIfDue).pipe(
      Effect.map(Option.getOrElse(() => busyMillis)),
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
    yield* Effect.forkScoped(Effect.forever(Effect.flatMap(round, (millis) => Effect.sleep(millis))))
  })
).pipe(Layer.provide(Jobs.Default))
