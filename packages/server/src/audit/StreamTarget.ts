import { Data, Effect, Metric, Predicate } from "effect"
import { type FileHandle, open } from "node:fs/promises"
import type { Settings } from "../Config.js"
import { StartupError } from "../StartupError.js"

/** The system's word for why lines could not be written. */
export class StreamFailure extends Data.TaggedError("StreamFailure")<{ readonly reason: string }> {}

/** Takes whole lines; comes back when they are handed over, or on disk. */
export type WriteLines = (lines: string) => Effect.Effect<void, StreamFailure>

/** Attempts that failed: the lines are kept in the database and tried again. */
export const streamFailures = Metric.counter("coffer_audit_stream_failures_total", { incremental: true })

const counting =
  (write: WriteLines): WriteLines =>
  (lines) =>
    Effect.tapError(write(lines), () => Metric.increment(streamFailures))

const failureOf = (error: unknown): StreamFailure =>
  new StreamFailure({
    reason: Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : "unknown reason"
  })

const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

/** A reader that hangs holds up these writes and nothing else: on a pipe, Node's standard output does not block. */
const toStdout: WriteLines = (lines) =>
  Effect.async((resume) => {
    process.stdout.write(lines, (error) =>
      resume(error === null || error === undefined ? Effect.void : failureOf(error))
    )
  })

/** Whether the last line was begun and not ended, as by a crash or a full disk. */
const isBroken = async (file: FileHandle): Promise<boolean> => {
  const { size } = await file.stat()
  if (size === 0) return false
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer[0] !== 0x0a
}

const opened = (path: string) =>
  Effect.acquireRelease(
    attempt(() => open(path, "a+", 0o600)),
    (file) => Effect.promise(() => file.close())
  )

/** Opens the file anew each time, so that it can be rotated by renaming it. */
const toFile =
  (path: string): WriteLines =>
  (lines) =>
    Effect.gen(function* () {
      const file = yield* opened(path)
      const broken = yield* attempt(() => isBroken(file))
      yield* attempt(() => file.appendFile(broken ? `\n${lines}` : lines))
      yield* attempt(() => file.datasync())
    }).pipe(Effect.scoped)

/** Where the entries go. A file that cannot be one is told at the start; what fails later is tried again. */
export const streamTarget = (stream: NonNullable<Settings["auditStream"]>): Effect.Effect<WriteLines, StartupError> =>
  stream === "stdout"
    ? Effect.sync(() => {
        // A reader that goes away does not end the server.
        process.stdout.on("error", () => undefined)
        return counting(toStdout)
      })
    : Effect.gen(function* () {
        const stats = yield* Effect.scoped(
          Effect.flatMap(opened(stream.file), (file) => attempt(() => file.stat()))
        ).pipe(
          Effect.mapError(
            ({ reason }) =>
              new StartupError({ message: `SERVICE_AUDIT_STREAM: ${stream.file} cannot be opened (${reason})` })
          )
        )
        return stats.isFile()
          ? counting(toFile(stream.file))
          : yield* new StartupError({ message: `SERVICE_AUDIT_STREAM: ${stream.file} is not a regular file` })
      })
