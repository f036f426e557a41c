import type { KeyWarning } from "@coffer/domain/secrets/DeclaredKey"
import * as Effect from "effect/Effect"
import { note } from "../terminal/Print.js"

const sentences: ReadonlyMap<string, string> = new Map([
  ["breaks_pattern", "the value breaks the pattern that the project declares"],
  ["required", "the project declares it as required"]
])

/** Notes what the server warns of, a line for each key. */
export const noteWarnings = ({ warnings = [] }: { readonly warnings?: ReadonlyArray<KeyWarning> }, place: string) =>
  Effect.forEach(
    warnings,
    ({ key, problem }) => note(`warning: ${key} of ${place}: ${sentences.get(problem) ?? problem}`),
    { discard: true }
  )
