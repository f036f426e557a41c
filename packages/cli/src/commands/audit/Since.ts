import { AuditSince } from "@coffer/domain/AuditFilters"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { option } from "../../grammar/Fields.js"

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** A span such as `24h`, in milliseconds; undefined for another text. */
const spanIn = (text: string): number | undefined => {
  const [, digits, unit = ""] = /^([1-9][0-9]{0,5})([smhdw])$/.exec(text) ?? []
  const scale = seconds[unit]
  return digits === undefined || scale === undefined ? undefined : Number(digits) * scale * 1000
}

export const sinceOption = option(
  "since",
  {
    value: "text",
    description: "",
    decode: (name, text) =>
      spanIn(text) === undefined && Either.isLeft(Schema.decodeUnknownEither(AuditSince)(text))
        ? Either.left(
            `${name} must be a date, a date and time in UTC such as 2026-01-31T08:00:00Z, or a span before now such as 24h or 7d`
          )
        : Either.right(text)
  },
  "Only entries from this moment on: a date, a date and time in UTC, or a span before now such as 24h"
)

/** The moment of `--since`, as the server takes it. */
export const sinceMoment = (text: string | undefined): Effect.Effect<string | undefined> => {
  const span = text === undefined ? undefined : spanIn(text)
  return span === undefined
    ? Effect.succeed(text)
    : Effect.map(Clock.currentTimeMillis, (now) => new Date(now - span).toISOString())
}
