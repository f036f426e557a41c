import type { Backup } from "@coffer/domain/Backup"
import { Cause, Effect, Exit, Metric } from "effect"

export const backupsMade = Metric.counter("coffer_backups_made_total", { incremental: true })
export const backupsFailed = Metric.counter("coffer_backups_failed_total", { incremental: true })

/** When the newest good backup of this instance was made, in milliseconds since 1970; 0 while that is not known. */
export const newestBackup = Metric.gauge("coffer_newest_backup_millis")

/** How the last backup that this process tried ended: 1 well, -1 badly; 0 when it has tried none. */
export const lastResult = Metric.gauge("coffer_backup_last_result")

export const noteNewest = (backup: Backup | undefined): Effect.Effect<void> =>
  backup === undefined ? Effect.void : Metric.set(newestBackup, Date.parse(backup.created_at))

/** Failures that say nothing about backups: they are off, or whoever asked may not have one made. */
const unrelated: ReadonlyArray<string> = ["BackupsDisabled", "Forbidden", "Unauthorized"]

/** Counts how a backup ended. One that was not tried, or is nobody's, is none. */
export const noteOutcome = (exit: Exit.Exit<Backup, { readonly _tag: string }>): Effect.Effect<void> => {
  if (Exit.isSuccess(exit)) {
    return Effect.all([Metric.increment(backupsMade), Metric.set(lastResult, 1), noteNewest(exit.value)], {
      discard: true
    })
  }
  const isUnrelated = Cause.failures(exit.cause).pipe((failures) =>
    [...failures].some(({ _tag }) => unrelated.includes(_tag))
  )
  return isUnrelated || Cause.isInterruptedOnly(exit.cause)
    ? Effect.void
    : Effect.all([Metric.increment(backupsFailed), Metric.set(lastResult, -1)], { discard: true })
}

/** When the last good drill ended, in milliseconds since 1970, by this process or one before; 0 when there was none. */
export const drillTime = Metric.gauge("coffer_backup_drill_millis")

/** How the last drill that this process tried ended: 1 well, -1 badly; 0 when it has tried none. */
export const drillResult = Metric.gauge("coffer_backup_drill_last_result")

/** How long the last drill took, in seconds; 0 when there was none. */
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
