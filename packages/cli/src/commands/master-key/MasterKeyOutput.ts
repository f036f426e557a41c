import { codeOf } from "@coffer/domain/client/FileError"
import { Data, Effect, Schedule } from "effect"
import { closeSync, fstatSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import { CannotDo } from "../../Failures.js"

const standardOutput = 1

class CannotWrite extends Data.TaggedError("CannotWrite")<{ readonly code: string }> {}

const attempt = <A>(work: () => A) =>
  Effect.try({ try: work, catch: (error) => new CannotWrite({ code: codeOf(error) }) })

/** Writes all of it, however long a reader takes. */
const writeAll = (bytes: Uint8Array): Effect.Effect<void, CannotWrite> =>
  attempt(() => writeSync(standardOutput, bytes)).pipe(
    Effect.retry({ while: ({ code }) => code === "EAGAIN", schedule: Schedule.spaced("50 millis") }),
    Effect.flatMap((written) => (written < bytes.length ? writeAll(bytes.subarray(written)) : Effect.void))
  )

/** A pipe or a terminal has nothing to flush. */
const flush = Effect.catchIf(
  attempt(() => {
    fsyncSync(standardOutput)
  }),
  ({ code }) => ["EINVAL", "ENOTSUP", "EROFS"].includes(code),
  () => Effect.void
)

/**
 * Writes the new master key to standard output, alone, and flushes it: nothing is to be committed before somebody can
 * have it. Not by Node's own stream, whose errors end the client without a word.
 */
export const showKey = (key: string): Effect.Effect<void, CannotDo> =>
  Effect.zipRight(writeAll(Buffer.from(`${key}\n`)), flush).pipe(
    Effect.mapError(
      ({ code }) =>
        new CannotDo({ message: `the new key cannot be written to standard output (${code}): nothing was changed` })
    )
  )

/** Whether what goes to standard output is lost; also when it was closed, which Node replaces so. */
export const isOutputLost: Effect.Effect<boolean> = Effect.orElseSucceed(
  attempt(() => {
    const output = fstatSync(standardOutput)
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev
  }),
  () => false
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
