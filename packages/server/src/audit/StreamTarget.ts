import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Predicate from "effect/Predicate"
import { counter } from "../base/Metrics.js"
import { type FileHandle, open } from "node:fs/promises"
import type { Settings } from "../base/Config.js"
import { StartupError } from "../base/StartupError.js"

/** `reason` is the system's error code. */
export class StreamFailure extends Data.TaggedError("StreamFailure")<{ readonly reason: string }> {}

/** Writes whole lines. Completes once the pipe has taken them, or once they are on disk. */
export type WriteLines = (lines: string) => Effect.Effect<void, StreamFailure>

/** Failed attempts; the lines are read from the database and written again. */
export const streamFailures = counter(
  "coffer_audit_stream_failures_total",
  "Failed attempts to write to the audit stream"
)

const counting =
  (write: WriteLines): WriteLines =>
  (lines) =>
    Effect.tapError(write(lines), () => Metric.increment(streamFailures))

const failureOf = (error: unknown): StreamFailure =>
  new StreamFailure({
    reason: Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : "unknown reason"
  })

const attempt = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: failureOf })

/** A stuck reader blocks these writes only: on a pipe, Node writes to standard output asynchronously. */
const toStdout: WriteLines = (lines) =>
  Effect.async((resume) => {
    process.stdout.write(lines, (error) =>
      resume(error === null || error === undefined ? Effect.void : failureOf(error))
    )
  })

/** Whether the last line is incomplete, as after a crash or on a full disk. */
const endsInPartialLine = async (file: FileHandle): Promise<boolean> => {
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

/** Opens the file for each write, so that it can be rotated by renaming it. */
const toFile =
  (path: string): WriteLines =>
  (lines) =>
    Effect.gen(function* () {
      const file = yield* opened(path)
      const isPartial = yield* attempt(() => endsInPartialLine(file))
      yield* attempt(() => file.appendFile(isPartial ? `\n${lines}` : lines))
      yield* attempt(() => file.datasync())
    }).pipe(Effect.scoped)

/** Opens the target once to fail at startup if that is impossible. Later failures are retried. */
export const streamTarget = (stream: NonNullable<Settings["auditStream"]>): Effect.Effect<WriteLines, StartupError> =>
  stream === "stdout"
    ? Effect.sync(() => {
        // Without a listener, a reader that closes the pipe would end the process.
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
