import { Clock, Effect } from "effect"

/** The text that was made last: one request asks for that of the same moment several times. */
let last = { millis: NaN, text: "" }

/** Milliseconds since 1970 as the text that the database and the API hold: ISO 8601, UTC. */
export const timestamp = (millis: number): string => {
  if (last.millis !== millis) last = { millis, text: new Date(millis).toISOString() }
  return last.text
}

/** The present moment as text. */
export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

/** The moment that lies `millis` milliseconds back. */
export const ago = (millis: number): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (current) => timestamp(current - millis))
