import * as Effect from "effect/Effect"

/** How many rows of a caller's choosing one transaction ends, so that others do not wait long. */
export const endedAtOnce = 200

/** The result of one transaction of a change that may take several. */
export interface Step {
  readonly hasMore: boolean
}

/** The result of the last transaction. */
type Last<A extends Step> = Exclude<A, { readonly hasMore: true }>

const isLast = <A extends Step>(step: A): step is Last<A> => !step.hasMore

/**
 * Repeats a transaction until it leaves nothing for another one, and returns its last result. Each must be complete by itself: after
 * a failure, the caller repeats the request. A client that closes the connection does not stop it.
 */
export const inSteps = <A extends Step, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<Last<A>, E, R> =>
  Effect.uninterruptible(Effect.repeat(step, { until: isLast<A> }))
