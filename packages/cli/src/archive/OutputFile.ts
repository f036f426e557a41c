import { hasCode, writeProblem } from "@coffer/client/internal/FileError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { CannotDo, WrongUsage } from "../Failures.js"
import type { Output } from "../terminal/Output.js"
import { toTerminal, write } from "../terminal/Print.js"
import { checkTarget } from "../terminal/Target.js"

/** Where an archive is written: a file, or standard output for `-`. */
export interface Target {
  readonly path: string
  /** Whether a file that exists is replaced. */
  readonly force: boolean
}

const existing = (path: string) =>
  new CannotDo({ message: `${path} exists: name another file, or replace it with --force` })

/** Checks that an archive can be written there, before anything is asked for. */
export const checkOutput = Effect.fnUntraced(function* ({ force, path }: Target) {
  if (path === "-") {
    if (!(yield* toTerminal)) return
    return yield* new WrongUsage({
      message: "an archive is not text for a terminal: name a file, or redirect the output"
    })
  }
  yield* checkTarget(path, "name - to write to standard output")
  if (!force && existsSync(path)) return yield* existing(path)
})

/** Writes a file beside its place, for its owner alone, and renames it there when it is whole. */
const writeFile = ({ force, path }: Target, chunks: Stream.Stream<Uint8Array>) => {
  const temporary = join(dirname(path), `.${globalThis.crypto.randomUUID()}`)
  const attempt = <A>(work: () => A) =>
    Effect.try({
      try: work,
      catch: (cause) =>
        hasCode(cause, "EEXIST")
          ? existing(path)
          : new CannotDo({ message: `${path} cannot be written: ${writeProblem(cause)}` })
    })
  return Effect.acquireUseRelease(
    attempt(() => openSync(temporary, "wx", 0o600)),
    (descriptor) =>
      Stream.runForEach(chunks, (chunk) => attempt(() => writeFileSync(descriptor, chunk))).pipe(
        Effect.zipRight(
          attempt(() => {
            fsyncSync(descriptor)
            // Another program may have made the file meanwhile.
            if (!force) closeSync(openSync(path, "wx", 0o600))
            renameSync(temporary, path)
          })
        )
      ),
    (descriptor) =>
      Effect.sync(() => {
        closeSync(descriptor)
        rmSync(temporary, { force: true })
      })
  )
}

/** Writes what is encrypted already. */
export const writeOutput = (
  target: Target,
  chunks: Stream.Stream<Uint8Array>
): Effect.Effect<void, CannotDo, Output> =>
  target.path === "-" ? Stream.runForEach(chunks, write) : writeFile(target, chunks)
