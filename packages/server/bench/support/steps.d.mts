import type * as Effect from "effect/Effect"

interface Counts {
  readonly requests: number
  readonly commits: number
}

export const makeStepCounter: () => {
  readonly counting: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly begin: () => void
  readonly statement: () => void
  readonly end: () => Counts
  readonly statements: () => Counts
}
