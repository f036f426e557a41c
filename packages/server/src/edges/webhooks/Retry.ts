import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const minute = 60_000
const hour = 60 * minute

/** The pauses between the tries of a delivery: 8 tries in a day. */
const pauses = [minute, 5 * minute, 15 * minute, hour, 3 * hour, 7 * hour, 12 * hour]

export const maxTries = pauses.length + 1

/** How much longer or shorter a pause is at random, so that receivers are not asked by all webhooks at once. */
const jitter = 0.1

/** Milliseconds until the next try; null after the last one. */
export const pauseAfter = (tries: number): Effect.Effect<number | null> =>
  Effect.map(Random.nextRange(1 - jitter, 1 + jitter), (factor) => {
    const pause = pauses[tries - 1]
    return pause === undefined ? null : Math.round(pause * factor)
  })
