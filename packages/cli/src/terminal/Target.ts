import { writeProblem } from "@coffer/client/internal/FileError"
import * as Effect from "effect/Effect"
import { lstatSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo } from "../Failures.js"

/**
 * Checks that a file can be written there. An existing file is replaced; anything else is refused.
 *
 * @param otherwise how to write to standard output.
 */
export const checkTarget = (path: string, otherwise = "without --output the secrets go to standard output") =>
  Effect.try({
    try: () => ({
      directory: lstatSync(dirname(path), { throwIfNoEntry: false }),
      target: lstatSync(path, { throwIfNoEntry: false })
    }),
    catch: (cause) => new CannotDo({ message: `${path} cannot be written: ${writeProblem(cause)}` })
  }).pipe(
    Effect.flatMap(({ directory, target }) => {
      const refuse = (message: string) => Effect.fail(new CannotDo({ message: `${path} ${message}` }))
      if (directory === undefined) return refuse("would be in a directory that does not exist; create it first")
      if (target === undefined || target.isFile()) return Effect.void
      return target.isSymbolicLink()
        ? refuse("is a symbolic link; name the file that it points to")
        : refuse(`is not a file; ${otherwise}`)
    })
  )
