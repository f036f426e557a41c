import { Expiry } from "@coffer/domain/secrets/Due"
import { withMessage } from "@coffer/domain/base/Message"
import { isSpan, spanMillis } from "@coffer/domain/base/Span"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The server has lower limits. */
const longest = spanMillis("36500d")

/** A date or time, or how long from now. */
export const Expires = Schema.String.pipe(
  Schema.filter((text) => (spanMillis(text) > 0 && spanMillis(text) <= longest) || Schema.is(Expiry)(text), {
    ...withMessage("must be a time such as 4h or 7d, a date, or a date and time in UTC such as 2027-01-31T08:00:00Z"),
    description: "when the rule ends: a time such as 4h or 7d, or a date; without it, the rule lasts",
    examples: ["4h"]
  })
)

/** The time that it means. */
export const endOf = (expires: string): Effect.Effect<string> =>
  isSpan(expires)
    ? Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis + spanMillis(expires)).toISOString())
    : Effect.succeed(expires)

export const until = ({ expires_at }: { readonly expires_at?: string }): string =>
  expires_at === undefined ? "" : ` until ${expires_at}`
