import { readPrivate, statePath, writePrivate } from "@coffer/client/internal/PrivateFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { note } from "../terminal/Print.js"
import { canAsk } from "../terminal/Prompts.js"

/**
 * Says once, at a terminal, where a value in an argument stays. A file remembers that it was said; where none can be written, it is
 * said again.
 */
export const warnOfHistory = Effect.gen(function* () {
  if (!(yield* canAsk)) return
  const path = yield* statePath("warned-of-history")
  if (Option.isSome(yield* readPrivate(path))) return
  yield* writePrivate(path, "")
  yield* note(
    "a value in an argument stays in the shell's history, and others on this machine can see it while the command runs; coffer set KEY asks for it unseen (this is said once)"
  )
}).pipe(Effect.catchTag("PrivateFileError", () => Effect.void))
