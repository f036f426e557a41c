import * as Either from "effect/Either"

/** When a rotation may begin a turn: on these days of the week, from one time of the day to another, in a time zone. */
export interface Window {
  readonly days: ReadonlyArray<string>
  readonly from: string
  readonly to: string
  readonly zone: string
}

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }
  })
  formats.set(timeZone, made)
  return made
}

export const isZone = (text: string): boolean => Either.isRight(Either.try(() => formatOf(text)))

/** Whether a moment is within a window. One that ends before it begins ends on the next day. */
export const isWithin = ({ days, from, to, zone }: Window, millis: number): boolean => {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(millis)
      .map(({ type, value }) => [type, value])
  )
  const time = `${parts.get("hour")}:${parts.get("minute")}`
  const today = (parts.get("weekday") ?? "").toLowerCase()
  if (from <= to) return days.includes(today) && time >= from && time < to
  const before = weekdays[(weekdays.findIndex((day) => day === today) + 6) % 7] ?? ""
  return time >= from ? days.includes(today) : time < to && days.includes(before)
}

const step = 5 * 60_000
const week = 8 * 24 * 60 * 60_000

/** The first moment from `millis` on within a window, to five minutes; in a week if there is none. */
export const nextWithin = (window: Window | null, millis: number): number => {
  if (window === null || isWithin(window, millis)) return millis
  const first = Math.ceil(millis / step) * step
  for (let at = first; at < millis + week; at += step) if (isWithin(window, at)) return at
  return millis + week
}
