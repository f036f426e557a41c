import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { privatePath, readPrivate, type PrivateFileError } from "./PrivateFile.js"

/** The path of the file that holds what is trusted: a line for each origin, and for each file. */
export const trustedPath = privatePath("trusted")

/** The lines of the file. Without a home directory, nothing can have been stored. */
export const readTrusted = Effect.gen(function* () {
  const path = yield* Effect.option(trustedPath)
  const text = Option.isNone(path) ? Option.none() : yield* readPrivate(path.value)
  return Option.match(text, {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (lines) => lines.split("\n").filter((line) => line !== "")
  })
})

/** Whether API keys may be sent to this origin if it comes from `service.yml`. */
export const isTrusted = (origin: string): Effect.Effect<boolean, PrivateFileError> =>
  Effect.map(readTrusted, (lines) => lines.includes(origin))
