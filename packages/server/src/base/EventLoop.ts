import { Effect } from "effect"

/** Waiters for a later tick, first in, first out. */
const waiting = new Set<() => void>()

/** Whether a `setImmediate` is pending. */
let scheduled = false

const schedule = (): void => {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    const [first] = waiting
    if (first === undefined) return
    waiting.delete(first)
    if (waiting.size > 0) schedule()
    first()
  })
}

/**
 * Waits for a later event-loop tick, so that sockets and timers run in between: `Effect.yieldNow` resumes before them.
 * Each tick resumes one waiter. If it resumed all of them, many long jobs together would block the event loop.
 */
export const nextTick = Effect.async<void>((resume) => {
  const goOn = (): void => {
    resume(Effect.void)
  }
  waiting.add(goOn)
  schedule()
  return Effect.sync(() => {
    waiting.delete(goOn)
  })
})

/** Waits by the system's timer instead of Effect's `Clock`: what another process does takes real time. */
export const pause = (millis: number) =>
  Effect.async<void>((resume) => {
    const timer = setTimeout(() => {
      resume(Effect.void)
    }, millis)
    return Effect.sync(() => {
      clearTimeout(timer)
    })
  })

/** How long `pacing` lets work run before it waits for the next tick, in milliseconds. */
const sliceMillis = 5

/** Returns an effect to run between the steps of long work: waits for the next tick once a slice has passed. */
export const pacing = () => {
  let begun = performance.now()
  const wait = Effect.map(nextTick, () => {
    begun = performance.now()
  })
  return Effect.suspend(() => (performance.now() - begun < sliceMillis ? Effect.void : wait))
}

/** `Effect.forEach` that yields to the event loop after each slice of time. */
export const forEachInSlices = <A, B, E, R>(
  items: ReadonlyArray<A>,
  step: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.suspend(() => {
    const pace = pacing()
    return Effect.forEach(items, (item, index) => Effect.zipLeft(step(item, index), pace))
  })
