import { codeOf, writeProblem } from "@coffer/client/internal/FileError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { fstatSync, fsyncSync, statSync, writeSync } from "node:fs"

const standardOutput = 1

/** Standard output cannot be written to; `code` is the system's. */
export class CannotWrite extends Data.TaggedError("CannotWrite")<{ readonly code: string; readonly reason: string }> {}

/** Work with a file or a descriptor. */
export const attempt = <A>(work: () => A): Effect.Effect<A, CannotWrite> =>
  Effect.try({ try: work, catch: (error) => new CannotWrite({ code: codeOf(error), reason: writeProblem(error) }) })

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

/** Writes to standard output and flushes it. Fails also where its reader is gone. */
export const writeFlushed = (text: string): Effect.Effect<void, CannotWrite> =>
  Effect.zipRight(writeAll(Buffer.from(text)), flush)

/** Whether what goes to standard output is lost; also if it was closed, because Node replaces it by /dev/null. */
export const isOutputLost: Effect.Effect<boolean> = Effect.orElseSucceed(
  attempt(() => {
    const output = fstatSync(standardOutput)
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev
  }),
  () => false
)
