import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The hook that runs when the server takes requests, with the server's address. */
export class Listening extends Context.Reference<Listening>()("@coffer/server/Listening", {
  defaultValue:
    () =>
    (_url: string): Effect.Effect<void> =>
      Effect.void
}) {}
