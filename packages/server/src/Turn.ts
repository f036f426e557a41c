import { Effect } from "effect"

/** Who waits for a turn of the event loop, in order. */
const waiting = new Set<() => void>()

/** Whether the next turn of the event loop is awaited already. */
let awaited = false

const awaitNext = (): void => {
  if (awaited) return
  awaited = true
  setImmediate(() => {
    awaited = false
    const [first] = waiting
    if (first === undefined) return
    waiting.delete(first)
    if (waiting.size > 0) awaitNext()
    first()
  })
}

/**
 * Lets sockets and timers have their turn in the middle of long work: a fiber's own yield goes on before them. Of all long work
 * of the process, one piece goes on in each turn of the event loop: many at once would hold it as long as one that never waits.
 */
export const turn = Effect.async<void>((resume) => {
  const goOn = (): void => {
    resume(Effect.void)
  }
  waiting.add(goOn)
  awaitNext()
  return Effect.sync(() => {
    waiting.delete(goOn)
  })
})

/** How long work goes on before it waits for its next turn, in milliseconds. */
const sliceMillis = 5

/**
 * What long work calls between its steps: waits for a turn when the last one was taken a slice ago. Short work is never slowed
 * down by it.
 */
export const pacing = () => {
  let begun = performance.now()
  const wait = Effect.map(turn, () => {
    begun = performance.now()
  })
  return Effect.suspend(() => (performance.now() - begun < sliceMillis ? Effect.void : wait))
}

/** As `Effect.forEach`, in slices. */
export const forEachInTurns = <A, B, E, R>(
  items: ReadonlyArray<A>,
  step: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.suspend(() => {
    const pace = pacing()
    return Effect.forEach(items, (item, index) => Effect.zipLeft(step(item, index), pace))
  })
