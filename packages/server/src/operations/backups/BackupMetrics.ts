import type { Backup } from "@coffer/domain/Backup"
import { Cause, Effect, Exit, Metric } from "effect"
import { isLeaseLost } from "../../database/jobs/Lease.js"

export const backupsMade = Metric.counter("coffer_backups_made_total", { incremental: true })
export const backupsFailed = Metric.counter("coffer_backups_failed_total", { incremental: true })

/** When the newest backup of this instance was made, in milliseconds since 1970; 0 if unknown. */
export const newestBackup = Metric.gauge("coffer_newest_backup_millis")

/** Whether the last backup of this process succeeded (1) or failed (-1); 0 before the first. */
export const lastResult = Metric.gauge("coffer_backup_last_result")

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
    : Effect.all([Metric.increment(backupsFailed), Metric.set(lastResult, -1)], { discard: true })
}

/** When the last successful drill ended, in milliseconds since 1970, also by earlier processes; 0 if there was none. */
export const drillTime = Metric.gauge("coffer_backup_drill_millis")

/** Whether the last drill found a good backup (1) or a damaged one (-1); 0 before the first. */
export const drillResult = Metric.gauge("coffer_backup_drill_last_result")

/** The duration of the last drill in seconds; 0 before the first. */
export const drillSeconds = Metric.gauge("coffer_backup_drill_seconds")

interface DrillNote {
  readonly drilled_at: string
  readonly seconds: number
  readonly valid: boolean
}

export const noteDrill = ({ drilled_at, seconds, valid }: DrillNote): Effect.Effect<void> =>
  Effect.all(
    [
      Metric.set(drillResult, valid ? 1 : -1),
      Metric.set(drillSeconds, seconds),
      valid ? Metric.set(drillTime, Date.parse(drilled_at)) : Effect.void
    ],
    { discard: true }
  )
