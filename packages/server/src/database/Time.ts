import { Clock, Effect } from "effect"

/** Milliseconds since 1970 as the text that the database and the API hold: ISO 8601, UTC. */
export const timestamp = (millis: number): string => new Date(millis).toISOString()

/** The present moment as text. */
export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

/** The moment that lies `millis` milliseconds back. */
export const ago = (millis: number): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (current) => timestamp(current - millis))
