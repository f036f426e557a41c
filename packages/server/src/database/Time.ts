import { Clock, Effect } from "effect"

/** Texts of the last few moments: one request asks for the same several times. */
const recent = new Map<number, string>()
const maxRecent = 32

/** Milliseconds since 1970 as the text that the database and the API hold: ISO 8601, UTC. */
export const timestamp = (millis: number): string => {
  const known = recent.get(millis)
  if (known !== undefined) return known
  if (recent.size >= maxRecent) recent.clear()
  const text = new Date(millis).toISOString()
  recent.set(millis, text)
  return text
}

/** The present moment as text. */
export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

/** The moment that lies `millis` milliseconds back. */
export const ago = (millis: number): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (current) => timestamp(current - millis))
