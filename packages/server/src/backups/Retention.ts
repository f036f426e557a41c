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
  /** Days, today included, whose newest backup is kept. */
  readonly days: number
  /** ISO weeks, this one included, whose newest backup is kept. */
  readonly weeks: number
}

/**
 * The backups that the rule no longer keeps at a moment (milliseconds since 1970), by UTC days and weeks, whatever
 * triggered them. One that claims to be of a later day is not older than anything, and stays.
 */
export const expired = (
  backups: ReadonlyArray<Backup>,
  millis: number,
  { days, weeks }: RetentionRule
): ReadonlyArray<Backup> => {
  const today = dayOf(millis)
  const seenDays = new Set<number>()
  const seenWeeks = new Set<number>()
  return Array.sort(backups, newestFirst).filter(({ created_at }) => {
    const day = dayOf(Date.parse(created_at))
    const week = weekOf(day)
    if (day > today) return false
    const ofDay = day > today - days && !seenDays.has(day)
    const ofWeek = week > weekOf(today) - weeks && !seenWeeks.has(week)
    seenDays.add(day)
    seenWeeks.add(week)
    return !ofDay && !ofWeek
  })
}
