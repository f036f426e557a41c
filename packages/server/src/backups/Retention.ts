import type { Backup } from "@coffer/domain/Backup"
import { Array, Order } from "effect"

const dayMillis = 24 * 60 * 60 * 1000

/** The number of a moment's day, in UTC. */
const dayOf = (millis: number): number => Math.floor(millis / dayMillis)

/** The number of a day's week. ISO 8601 weeks begin on Monday, and the first day of 1970 was a Thursday. */
const weekOf = (day: number): number => Math.floor((day + 3) / 7)

const newestFirst = Order.reverse(
  Order.combine(
    Order.mapInput(Order.string, (backup: Backup) => backup.created_at),
    Order.mapInput(Order.string, (backup: Backup) => backup.id)
  )
)

export interface RetentionRule {
  /** The number of days, the last ones with a backup, whose newest backup is kept. */
  readonly days: number
  /** The number of ISO weeks, the last ones with a backup, whose newest backup is kept. */
  readonly weeks: number
  /** How often a backup is scheduled, in hours. */
  readonly scheduleHours: number
}

/** A restore that this database went through. */
export interface RestoreMark {
  /** When the backup was made that was restored, in milliseconds since 1970. */
  readonly from: number
  /** When it became the live database. */
  readonly at: number
}

export interface Known {
  /** The instance whose backups these are; those of others are never removed. */
  readonly instance: string
  readonly restores: ReadonlyArray<RestoreMark>
  /** The ids of the backups that a drill found damaged. */
  readonly damaged: ReadonlySet<string>
}

/** Why a backup is removed. */
const removals = {
  day: "a newer backup of its day is kept",
  week: "a newer backup of its week is kept",
  age: "it is older than every day and week that the retention keeps"
} as const

/** Why a backup is kept. */
const keeps = {
  instance: "it belongs to another instance",
  future: "it is of the future",
  restore: "a restore was less than 7 days ago",
  clock: "the clock looks wrong, or no backup was made for long",
  newest: "it is the newest good one",
  restored: "it is not older than a backup that was restored since",
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
  /** What holds everything back at this moment; null when the rules apply. */
  readonly held: "restore" | "clock" | null
}

export const removalReason = (by: RemovedBy): string => removals[by]
export const keepReason = (by: KeptBy): string => keeps[by]

/** For so long after a restore nothing is removed: somebody may yet find that it was the wrong backup. */
const graceMillis = 7 * dayMillis

/** The first value of the last `count` distinct ones; every value counts while there are fewer. */
const limitOf = (descending: ReadonlyArray<number>, count: number): number => {
  const distinct = Array.dedupe(descending)
  return count === 0 ? Infinity : distinct.length < count ? -Infinity : (distinct[count - 1] ?? -Infinity)
}

/** The backups that are the first of their period, in a list that begins with the newest. */
const firstOfEach = (backups: ReadonlyArray<Backup>, periodOf: (backup: Backup) => number): ReadonlySet<Backup> => {
  const first = new Map<number, Backup>()
  for (const backup of backups) if (!first.has(periodOf(backup))) first.set(periodOf(backup), backup)
  return new Set(first.values())
}

/**
 * Decides which backups the rule keeps at a moment (milliseconds since 1970).
 *
 * Days and weeks are UTC days and ISO weeks. Those without a backup do not count, so that neither a wrong clock nor a long
 * pause uses them up: with a clock that is ahead, as many backups stay as with one that is right. A backup that a person made
 * takes the place of its day like any other, but is removed only once it is older than every day and week that is kept.
 */
export const retain = (
  backups: ReadonlyArray<Backup>,
  now: number,
  { days, scheduleHours, weeks }: RetentionRule,
  { damaged, instance, restores }: Known
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
  const held = restores.some(({ at }) => now < at + graceMillis)
    ? "restore"
    : now - last > explained || last - before > explained
      ? "clock"
      : null

  const oldestDay = limitOf(good.map(day), days)
  const oldestWeek = limitOf(good.map(week), weeks)
  const ofDay = firstOfEach(good, day)
  const ofWeek = firstOfEach(good, week)

  const judge = (backup: Backup): { readonly keep: KeptBy } | { readonly remove: RemovedBy } => {
    if (backup.instance !== instance) return { keep: "instance" }
    if (made(backup) > now) return { keep: "future" }
    if (held !== null) return { keep: held }
    if (backup === good[0]) return { keep: "newest" }
    if (restores.some(({ at, from }) => from <= made(backup) && made(backup) <= at)) return { keep: "restored" }
    const inDays = day(backup) >= oldestDay
    const inWeeks = week(backup) >= oldestWeek
    if (inDays && ofDay.has(backup)) return { keep: "day" }
    if (inWeeks && ofWeek.has(backup)) return { keep: "week" }
    if (!inDays && !inWeeks) return { remove: "age" }
    if (backup.trigger !== "scheduled") return { keep: "manual" }
    if (damaged.has(backup.id)) return { keep: "damaged" }
    return { remove: inDays ? "day" : "week" }
  }

  const judged = sorted.map((backup) => ({ backup, verdict: judge(backup) }))
  return {
    removed: judged.flatMap(({ backup, verdict }) => ("remove" in verdict ? [{ backup, by: verdict.remove }] : [])),
    kept: judged.flatMap(({ backup, verdict }) => ("keep" in verdict ? [{ backup, by: verdict.keep }] : [])),
    held
  }
}
