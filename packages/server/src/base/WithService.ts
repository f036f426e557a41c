import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** `Effect.flatMap(tag, use)` in one step of the fiber instead of four: for what every request asks. */
export const withService = <I, S, A, E, R>(
  tag: Context.Tag<I, S>,
  use: (service: S) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | I> =>
  Effect.withFiberRuntime(({ currentContext }) => use(Context.unsafeGet(currentContext, tag)))
