import * as Effect from "effect/Effect"
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo } from "../../Failures.js"
import { attempt, CannotWrite } from "../../terminal/Descriptor.js"
import { Output } from "../../terminal/Output.js"

/**
 * Writes the new master key to standard output, alone, and flushes it: nothing is to be committed before somebody can
 * have it.
 */
export const showKey = (key: string): Effect.Effect<void, CannotDo, Output> =>
  Effect.flatMap(Output, ({ writeFlushed }) => writeFlushed(`${key}\n`)).pipe(
    Effect.mapError(
      ({ code }) =>
        new CannotDo({ message: `the new key cannot be written to standard output (${code}): nothing was changed` })
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
    Effect.mapError(({ code }) => new CannotDo({ message: `${path} cannot be removed (${code}): remove it` }))
  )

const writeFlushed = (file: number, bytes: Uint8Array) =>
  Effect.filterOrFail(
    attempt(() => {
      const written = writeSync(file, bytes)
      fsyncSync(file)
      return written
    }),
    (written) => written === bytes.length,
    () => new CannotWrite({ code: "ENOSPC" })
  )

/**
 * Writes the new master key to a new file (0600) and flushes the file and its folder: nothing is to be committed before
 * the key is on disk. Leaves no part of a file behind when it fails.
 */
export const writeKeyFile = (path: string, key: string): Effect.Effect<void, CannotDo> =>
  Effect.acquireUseRelease(
    attempt(() => openSync(path, "wx", 0o600)),
    (file) =>
      writeFlushed(file, Buffer.from(`${key}\n`)).pipe(
        Effect.zipRight(flushFolder(dirname(path))),
        Effect.tapError(() => Effect.ignore(removeKeyFile(path)))
      ),
    closing
  ).pipe(
    Effect.mapError(
      ({ code }) => new CannotDo({ message: `the new key cannot be written to ${path} (${code}): nothing was changed` })
    )
  )
