/** Times on the command line: `--for` takes how long, `--until` takes when. `--since` and `--until` of a range take both. */
import { isSpan, spanMillis } from "@coffer/domain/base/Span"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Codec, old, oneOf, option, type OptionSpec } from "./Specs.js"

/** The server has lower limits. */
const longest = spanMillis("36500d")

const isDuration = (text: string): boolean => spanMillis(text) > 0 && spanMillis(text) <= longest

const momentForm =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)(Z| UTC|[+-][0-9]{2}:?[0-9]{2}))?$/

/**
 * A date, or a date and time with a zone, as the server takes it: in UTC. Undefined if the text is none. JavaScript takes February
 * 30 for March 2.
 */
export const utcMoment = (text: string): string | undefined => {
  const [, day = "", time, given] = momentForm.exec(text) ?? []
  const zone = given === " UTC" ? "Z" : given
  if (day === "" || Number.isNaN(Date.parse(day)) || !new Date(day).toISOString().startsWith(day)) return undefined
  if (time === undefined) return day
  // The server takes milliseconds.
  if (zone === "Z" && !/\.[0-9]{4}/.test(time)) return `${day}T${time}Z`
  const millis = Date.parse(`${day}T${time}${zone ?? ""}`)
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}

/** How long: 30s, 15m, 8h, 30d or 12w. */
export const duration: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) =>
    isDuration(text) ? Either.right(text) : Either.left(`${name} takes a time such as 30m, 4h, 30d or 12w`)
}

/** When: a date, which means its beginning in UTC, or a date and time with a zone. */
export const moment: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const utc = utcMoment(text)
    return utc === undefined
      ? Either.left(`${name} takes a date such as 2027-01-31, or a date and time with a zone such as 2027-01-31T08:00Z`)
      : Either.right(utc)
  }
}

/** Either form, as options of earlier releases take it. */
export const durationOrMoment: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const utc = isDuration(text) ? text : utcMoment(text)
    return utc === undefined
      ? Either.left(`${name} must be a time such as 4h or 7d, a date, or a date and time such as 2027-01-31T08:00:00Z`)
      : Either.right(utc)
  }
}

/**
 * How long the thing that a command makes or changes lasts: `--for` and `--until`, and the options of earlier releases that said
 * the same. The value is a duration or a moment.
 *
 * @param what lasts, for people.
 */
export const lasting = (
  what: string,
  ...olds: ReadonlyArray<OptionSpec<string | undefined>>
): OptionSpec<string | undefined> =>
  oneOf(
    option("for", duration, `How long ${what}, such as 4h, 30d or 12w`),
    option("until", moment, `Until when ${what}: a date, or a date and time with a zone`),
    ...olds.map(old)
  )

/** An option of an earlier release. */
export const oldEnd = (name: string): OptionSpec<string | undefined> =>
  option(name, durationOrMoment, "Old form of --for or --until")

/** The moment that a duration or a moment means. */
export const endOf = (text: string): Effect.Effect<string> =>
  isSpan(text)
    ? Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis + spanMillis(text)).toISOString())
    : Effect.succeed(text)

/** The milliseconds from now until the end that a duration or a moment means. */
export const millisUntil = (text: string): Effect.Effect<number> =>
  isSpan(text)
    ? Effect.succeed(spanMillis(text))
    : Effect.map(Clock.currentTimeMillis, (millis) => Date.parse(text) - millis)

const days: ReadonlyMap<string, number> = new Map([
  ["today", 0],
  ["yesterday", 1]
])

/** A moment of the past: a moment, how long ago, `yesterday` or `today`. */
export const past: Codec<string> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const known = days.has(text) || isSpan(text) ? text : utcMoment(text)
    return known === undefined
      ? Either.left(
          `${name} must be a date, a date and time with a zone such as 2026-01-31T08:00:00Z, a span before now such as 24h or 7d, or yesterday`
        )
      : Either.right(known)
  }
}

/** The forms of a moment of the past, for people. */
export const pastForms = "a date, a date and time with a zone, a span before now such as 24h, or yesterday"

/** The options of a range of time. */
export const rangeOptions = {
  since: option("since", past, `Only entries from this moment on: ${pastForms}`),
  until: option("until", past, `Only entries before this moment: ${pastForms}`)
}

/** The moment of `--since` or `--until`, as the server takes it. */
export const pastMoment = (text: string | undefined): Effect.Effect<string | undefined> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (text === undefined) return undefined
    const ago = days.get(text)
    if (ago !== undefined) return new Date(now - ago * spanMillis("1d")).toISOString().slice(0, 10)
    return isSpan(text) ? new Date(Math.max(0, now - spanMillis(text))).toISOString() : text
  })
