import type { Backup } from "@coffer/domain/server/Backup"
import * as Array from "effect/Array"
import * as Order from "effect/Order"

const dayMillis = 24 * 60 * 60 * 1000

/** The number of the UTC day since 1970. */
const dayOf = (millis: number): number => Math.floor(millis / dayMillis)

/** The number of the ISO 8601 week of a day. Weeks begin on Monday, and 1970 began on a Thursday. */
const weekOf = (day: number): number => Math.floor((day + 3) / 7)

const newestFirst = Order.reverse(
  Order.combine(
    Order.mapInput(Order.string, (backup: Backup) => backup.created_at),
    Order.mapInput(Order.string, (backup: Backup) => backup.id)
  )
)

export interface RetentionRule {
  /** For how many days, of those with a backup, the newest backup of the day is kept. */
  readonly days: number
  /** For how many ISO weeks, of those with a backup, the newest backup of the week is kept. */
  readonly weeks: number
  /** The interval of scheduled backups, in hours. */
  readonly scheduleHours: number
}

/** A restore of this database. */
export interface RestoreMark {
  /** When the restored backup was made, in milliseconds since 1970. */
  readonly from: number
  /** When the restored file became the live database. */
  readonly appliedAt: number
}

export interface RetentionFacts {
  /** Backups of other instances are never removed. */
  readonly instance: string
  readonly restores: ReadonlyArray<RestoreMark>
  /** The ids of backups that a drill found damaged. */
  readonly damaged: ReadonlySet<string>
}

const removals = {
  day: "a newer backup of its day is kept",
  week: "a newer backup of its week is kept",
  age: "it is older than every day and week that the retention keeps"
} as const

const keeps = {
  instance: "it belongs to another instance",
  future: "its time is in the future",
  restore: "a restore was less than 7 days ago",
  clock: "the clock looks wrong, or no backup was made for a long time",
  newest: "it is the newest good one",
  restored: "it is not older than a backup that was restored later",
  day: "it is the newest of its day",
  week: "it is the newest of its week",
  manual: "a person made it, and it is not too old",
  damaged: "a drill found it damaged, and it is not too old"
} as const

export type RemovedBy = keyof typeof removals
export type KeptBy = keyof typeof keeps

export interface Retention {
  readonly removed: ReadonlyArray<{ readonly backup: Backup; readonly by: RemovedBy }>
  readonly kept: ReadonlyArray<{ readonly backup: Backup; readonly by: KeptBy }>
  /** Why nothing is removed at present; null if the rules apply. */
  readonly held: "restore" | "clock" | null
}

export const removalReason = (by: RemovedBy): string => removals[by]
export const keepReason = (by: KeptBy): string => keeps[by]

/** Nothing is removed for this long after a restore: it may turn out that the wrong backup was restored. */
const graceMillis = 7 * dayMillis

/** The lowest of the `count` highest distinct values; -Infinity if there are fewer. */
const limitOf = (descending: ReadonlyArray<number>, count: number): number =>
  count === 0 ? Infinity : (Array.dedupe(descending)[count - 1] ?? -Infinity)

/** The newest backup of each period, from a list sorted newest first. */
const firstOfEach = (backups: ReadonlyArray<Backup>, periodOf: (backup: Backup) => number): ReadonlySet<Backup> => {
  const first = new Map<number, Backup>()
  for (const backup of backups) if (!first.has(periodOf(backup))) first.set(periodOf(backup), backup)
  return new Set(first.values())
}

/**
 * Decides which backups the rule keeps at `now` (milliseconds since 1970).
 *
 * Days (UTC) and ISO weeks without a backup do not count, so a wrong clock or a long pause does not reduce the number of kept
 * backups. A manual backup can be the newest of its day, and is removed only after all kept days and weeks.
 */
export const retain = (
  backups: ReadonlyArray<Backup>,
  now: number,
  { days, scheduleHours, weeks }: RetentionRule,
  { damaged, instance, restores }: RetentionFacts
): Retention => {
  const made = (backup: Backup) => Date.parse(backup.created_at)
  const day = (backup: Backup) => dayOf(made(backup))
  const week = (backup: Backup) => weekOf(day(backup))

  const sorted = Array.sort(backups, newestFirst)
  const own = sorted.filter((backup) => backup.instance === instance)
  const past = own.filter((backup) => made(backup) <= now)
  const good = past.filter((backup) => !damaged.has(backup.id))

  const explained = Math.max(days * dayMillis, 2 * dayMillis, (2 * scheduleHours * dayMillis) / 24)
  const [last = now, before = last] = past.map(made)
  const held = restores.some(({ appliedAt }) => now < appliedAt + graceMillis)
    ? "restore"
    : now - last > explained || last - before > explained
      ? "clock"
      : null

  const oldestDay = limitOf(good.map(day), days)
  const oldestWeek = limitOf(good.map(week), weeks)
  const ofDay = firstOfEach(good, day)
  const ofWeek = firstOfEach(good, week)

  const decide = (backup: Backup): { readonly keep: KeptBy } | { readonly remove: RemovedBy } => {
    if (backup.instance !== instance) return { keep: "instance" }
    if (made(backup) > now) return { keep: "future" }
    if (held !== null) return { keep: held }
    if (backup === good[0]) return { keep: "newest" }
    if (restores.some(({ appliedAt, from }) => from <= made(backup) && made(backup) <= appliedAt))
      return { keep: "restored" }
    const inDays = day(backup) >= oldestDay
    const inWeeks = week(backup) >= oldestWeek
    if (inDays && ofDay.has(backup)) return { keep: "day" }
    if (inWeeks && ofWeek.has(backup)) return { keep: "week" }
    if (!inDays && !inWeeks) return { remove: "age" }
    if (backup.trigger !== "scheduled") return { keep: "manual" }
    if (damaged.has(backup.id)) return { keep: "damaged" }
    return { remove: inDays ? "day" : "week" }
  }

  const decided = sorted.map((backup) => ({ backup, decision: decide(backup) }))
  return {
    removed: decided.flatMap(({ backup, decision }) => ("remove" in decision ? [{ backup, by: decision.remove }] : [])),
    kept: decided.flatMap(({ backup, decision }) => ("keep" in decision ? [{ backup, by: decision.keep }] : [])),
    held
  }
}
