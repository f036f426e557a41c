import { Effect } from "effect"

/** Lets sockets and timers have their turn in the middle of long work: a fiber's own yield goes on before them. */
export const turn = Effect.async<void>((resume) => {
  const next = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(next))
})
