import type * as Effect from "effect/Effect"

/** Restores the interruptibility of the waiting fiber. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
