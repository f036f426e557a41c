import type { Backup } from "@coffer/domain/server/Backup"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import { counter, gauge } from "../../base/Metrics.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"

export const backupsMade = counter("coffer_backups_total", "Backups that this process made")
export const backupsFailed = counter("coffer_backup_failures_total", "Backups that failed in this process")

/** When the newest backup of this instance was made, in milliseconds since 1970; 0 if unknown. */
export const newestBackup = Metric.gauge("backup_newest_millis")

const lastResult = gauge(
  "coffer_backup_last_result",
  "Whether the last backup succeeded: 1 or 0; absent before the first"
)

export const noteNewest = (backup: Backup | undefined): Effect.Effect<void> =>
  backup === undefined ? Effect.void : Metric.set(newestBackup, Date.parse(backup.created_at))

/** Failures that are not failed backups: backups are off, or the caller has no right. */
const unrelated: ReadonlyArray<string> = ["BackupsDisabled", "Forbidden", "Unauthorized"]

/** Counts a finished backup. Unrelated failures and interruptions are not counted, nor is a backup that another server makes. */
export const noteOutcome = (exit: Exit.Exit<Backup, { readonly _tag: string }>): Effect.Effect<void> => {
  if (Exit.isSuccess(exit)) {
    return Effect.all([Metric.increment(backupsMade), Metric.set(lastResult, 1), noteNewest(exit.value)], {
      discard: true
    })
  }
  const isUnrelated = Cause.failures(exit.cause).pipe((failures) =>
    [...failures].some(({ _tag }) => unrelated.includes(_tag))
  )
  return isUnrelated || Cause.isInterruptedOnly(exit.cause) || isLeaseLost(exit.cause)
    ? Effect.void
    : Effect.all([Metric.increment(backupsFailed), Metric.set(lastResult, 0)], { discard: true })
}

/** Also by earlier processes. */
const drillTime = gauge(
  "coffer_backup_drill_timestamp_seconds",
  "When the last drill found a good backup (Unix time); absent before the first"
)

const drillResult = gauge(
  "coffer_backup_drill_last_result",
  "Whether the last drill found a good backup: 1 or 0; absent before the first"
)

const drillSeconds = gauge(
  "coffer_backup_drill_duration_seconds",
  "Duration of the last drill; absent before the first"
)

interface DrillNote {
  readonly drilled_at: string
  readonly seconds: number
  readonly valid: boolean
}

export const noteDrill = ({ drilled_at, seconds, valid }: DrillNote): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.set(drillResult, valid ? 1 : 0),
      Metric.set(drillSeconds, seconds),
      valid ? Metric.set(drillTime, Date.parse(drilled_at) / 1000) : Effect.void
    ],
    { discard: true }
  )
