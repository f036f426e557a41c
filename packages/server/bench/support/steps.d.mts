import type * as Effect from "effect/Effect"

export const makeStepCounter: () => {
  readonly counting: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly begin: () => void
  readonly end: () => { readonly requests: number; readonly commits: number }
}
