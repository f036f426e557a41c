import * as Effect from "effect/Effect"
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo } from "../../base/Failures.js"
import { checkIgnored } from "../../output/GitIgnored.js"
import { type OutputFile, reopenOutput, writeOutput } from "../../output/OutputFile.js"
import { attempt } from "../../terminal/Descriptor.js"
import { Output } from "../../terminal/Output.js"

/**
 * Writes the new master key to standard output, alone, and flushes it: nothing is to be committed before somebody can
 * have it.
 */
export const showKey = (key: string): Effect.Effect<void, CannotDo, Output> =>
  Effect.flatMap(Output, ({ writeFlushed }) => writeFlushed(`${key}\n`)).pipe(
    Effect.mapError(
      ({ reason }) =>
        new CannotDo({ message: `the new key cannot be written to standard output, as ${reason}: nothing was changed` })
    )
  )

const closing = (descriptor: number) =>
  Effect.sync(() => {
    closeSync(descriptor)
  })

/** Makes what was changed in a folder survive a loss of power. */
const flushFolder = (path: string) =>
  Effect.acquireUseRelease(
    attempt(() => openSync(path, "r")),
    (folder) =>
      attempt(() => {
        fsyncSync(folder)
      }),
    closing
  )

/** Removes a file that holds a key, for good. */
export const removeKeyFile = (path: string): Effect.Effect<void, CannotDo> =>
  attempt(() => {
    rmSync(path, { force: true })
  }).pipe(
    Effect.zipRight(flushFolder(dirname(path))),
    Effect.mapError(({ reason }) => new CannotDo({ message: `${path} cannot be removed, as ${reason}: remove it` }))
  )

const keyFile = (path: string): OutputFile => ({
  path,
  force: false,
  holdsValues: true,
  isOwn: false,
  mode: 0o600,
  keepsAccess: false
})

/** Fails where a new master key cannot be written, before there is one. */
export const checkKeyFile = Effect.fnUntraced(function* (path: string) {
  const output = yield* reopenOutput(keyFile(path))
  if (output.before !== undefined) return yield* new CannotDo({ message: `${path} already exists: name a new file` })
  yield* checkIgnored(path, "name a file elsewhere")
  return output
})

/**
 * Writes the new master key to a new file (0600) and flushes the file and its folder: nothing is to be committed before
 * the key is on disk. Leaves no part of a file behind when it fails.
 */
export const writeKeyFile = (path: string, key: string): Effect.Effect<void, CannotDo> =>
  Effect.flatMap(checkKeyFile(path), (output) => writeOutput(output, (write) => write(Buffer.from(`${key}\n`)))).pipe(
    Effect.mapError(({ message }) => new CannotDo({ message: `${message}. Nothing was changed` }))
  )
