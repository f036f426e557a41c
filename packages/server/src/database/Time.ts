import { Clock, Context, Effect, type Fiber } from "effect"

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

/** The present moment of what runs in a fiber, in milliseconds since 1970, for use inside a step of it. */
export const millisIn = (fiber: Fiber.RuntimeFiber<unknown, unknown>): number =>
  Context.get(fiber.currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()

/** The present moment as text. */
export const now: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, timestamp)

/** The moment that lies `millis` milliseconds back. */
export const ago = (millis: number): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (current) => timestamp(current - millis))
