import { exactly } from "./Exactly.js"
import { wallMillis } from "../state/ServerTime.js"

const units: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_536_000_000],
  ["month", 2_592_000_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
]

const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** A time in words, such as `2 days ago`. */
export const ago = (time: string, now: number): string => {
  const past = now - Date.parse(time)
  for (const [unit, millis] of units) if (past >= millis) return format.format(-Math.floor(past / millis), unit)
  return "just now"
}

/** A tolerance in milliseconds: an end that was just set to 8 hours does not show as 7. */
const grace = 30_000

/** A time that comes in words, such as `in 2 days`. Never later than it comes: `in 90 minutes` and not `in 2 hours`. */
export const ahead = (time: string, now: number): string => {
  const left = Date.parse(time) - now
  for (const [unit, millis] of units) {
    const count = Math.floor((left + grace) / millis)
    if (count >= 2 || (count === 1 && unit === "minute")) return format.format(count, unit)
  }
  return left > 0 ? "in less than a minute" : "now"
}

/** A time in words, and exactly for those who point at it. */
export const When = ({ time }: { readonly time: string }) => (
  <time dateTime={time} data-exact={exactly(time)}>
    {ago(time, wallMillis())}
  </time>
)

/** A time that comes in words, and exactly for those who point at it. */
export const Ahead = ({ time }: { readonly time: string }) => (
  <time dateTime={time} data-exact={exactly(time)}>
    {ahead(time, wallMillis())}
  </time>
)
