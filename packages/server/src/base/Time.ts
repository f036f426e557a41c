import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Cache of recent timestamps: one request formats the same time repeatedly. */
const recent = new Map<number, string>()
const maxRecent = 32

/** Formats milliseconds since 1970 as the database and the API store them: ISO 8601, UTC. */
export const timestamp = (millis: number): string => {
  const known = recent.get(millis)
  if (known !== undefined) return known
  if (recent.size >= maxRecent) recent.clear()
  const text = new Date(millis).toISOString()
  recent.set(millis, text)
  return text
}

/** The current time as a timestamp. */
export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

/** The timestamp of `millis` milliseconds ago. */
export const ago = (millis: number): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (current) => timestamp(current - millis))

/** Milliseconds of a clock that nobody sets, from an unknown beginning. It goes on while the process is paused. */
export const monotonicMillis = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000_000n))
