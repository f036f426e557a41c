import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** How work beside the program runs, such as polls. In programs without Effect, it does not keep the process alive. */
export class Background extends Context.Reference<Background>()("@coffer/client/Background", {
  defaultValue: () => (work: Effect.Effect<void>) => work
}) {}
