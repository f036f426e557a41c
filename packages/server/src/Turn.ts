import { Effect } from "effect"

/** Lets sockets and timers have their turn in the middle of long work: a fiber's own yield goes on before them. */
export const turn = Effect.async<void>((resume) => {
  const next = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(next))
})

/** How many items are worked on before other work gets its turn: a secret's value has at most 64 KB. */
const stride = 25

/** As `Effect.forEach`, with turns for other work in between. */
export const forEachInTurns = <A, B, E, R>(
  items: ReadonlyArray<A>,
  step: (item: A) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.forEach(items, (item, index) =>
    index > 0 && index % stride === 0 ? Effect.zipRight(turn, step(item)) : step(item)
  )
