import { AuditSince } from "@coffer/domain/audit/AuditFilters"
import { isSpan, spanMillis } from "@coffer/domain/base/Span"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { option } from "../../grammar/Fields.js"

export const sinceOption = option(
  "since",
  {
    value: "text",
    description: "",
    decode: (name, text) =>
      !isSpan(text) && Either.isLeft(Schema.decodeUnknownEither(AuditSince)(text))
        ? Either.left(
            `${name} must be a date, a date and time in UTC such as 2026-01-31T08:00:00Z, or a span before now such as 24h or 7d`
          )
        : Either.right(text)
  },
  "Only entries from this moment on: a date, a date and time in UTC, or a span before now such as 24h"
)

/** The moment of `--since`, as the server takes it. */
export const sinceMoment = (text: string | undefined): Effect.Effect<string | undefined> =>
  text === undefined || !isSpan(text)
    ? Effect.succeed(text)
    : Effect.map(Clock.currentTimeMillis, (now) => new Date(Math.max(0, now - spanMillis(text))).toISOString())
