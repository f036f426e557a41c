import { Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"

/** The last moment, as a UUID begins with it: many are made in one. */
let last = { millis: 0, text: "00000000-0000-7" }

const timeOf = (millis: number): string => {
  if (last.millis !== millis) {
    const time = millis.toString(16).padStart(12, "0")
    last = { millis, text: `${time.slice(0, 8)}-${time.slice(8)}-7` }
  }
  return last.text
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): it sorts by time. Its random bits are those of a version 4 UUID, which Node
 * draws in bulk.
 */
export const uuidV7At = (millis: number): string => timeOf(millis) + randomUUID().slice(15)

/** A UUID of version 7 of the present moment. */
export const uuidV7: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, uuidV7At)

/** A UUID of version 4, which tells nothing about its age. */
export const uuidV4: Effect.Effect<string> = Effect.sync(() => randomUUID())
