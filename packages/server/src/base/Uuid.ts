import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"

/** Cache of the last time prefix: many UUIDs are made in the same millisecond. */
let last = { millis: 0, text: "00000000-0000-7" }

const timeOf = (millis: number): string => {
  if (last.millis !== millis) {
    const time = millis.toString(16).padStart(12, "0")
    last = { millis, text: `${time.slice(0, 8)}-${time.slice(8)}-7` }
  }
  return last.text
}

/**
 * A version 7 UUID (RFC 9562, section 5.7), which sorts by time. Its random bits come from `randomUUID`, because Node
 * draws those in bulk.
 */
export const uuidV7At = (millis: number): string => timeOf(millis) + randomUUID().slice(15)

/** A version 7 UUID of the current time. */
export const uuidV7: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, uuidV7At)

/** UUIDs of version 7 in ascending order, for records that lists sort by their ids: those of one millisecond are in any order. */
export const uuidsV7 = (count: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(Clock.currentTimeMillis, (millis) => Array.from({ length: count }, () => uuidV7At(millis)).sort())

/** A version 4 UUID, which does not reveal when it was made. */
export const uuidV4: Effect.Effect<string> = Effect.sync(() => randomUUID())
