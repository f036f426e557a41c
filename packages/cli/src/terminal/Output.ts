import { hasCode, writeProblem } from "@coffer/client/internal/FileError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { writeSync } from "node:fs"
import { CannotDo } from "../base/Failures.js"
import { type CannotWrite, isOutputLost as isLost, writeFlushed } from "./Descriptor.js"

/** Standard output and standard error. */
export class Output extends Context.Tag("@coffer/cli/Output")<
  Output,
  {
    /** Whether standard output is a terminal. */
    readonly isTerminal: boolean
    /** Whether standard error is a terminal. */
    readonly isErrorTerminal: boolean
    /** The columns of the terminal at a stream; undefined if it is no terminal or does not say. */
    readonly width: (stream: "output" | "error") => number | undefined
    /** The lines of the terminal at standard output; undefined if it is no terminal or does not say. */
    readonly height: () => number | undefined
    /** Writes to standard output. Returns after the write. Dies with `ReaderGone` if nobody reads any more. */
    readonly write: (content: string | Uint8Array) => Effect.Effect<void, CannotDo>
    /** Writes to standard output and flushes it. Fails also where nobody reads any more. */
    readonly writeFlushed: (text: string) => Effect.Effect<void, CannotWrite>
    /** Whether what is written to standard output is lost. */
    readonly isLost: Effect.Effect<boolean>
    /** Writes to standard error, in one write. A failure is ignored. */
    readonly writeError: (text: string) => void
  }
>() {}

/** Whether a descriptor is a terminal. Its stream is slow to make, and changes a pipe. */
export const isTerminal = (descriptor: number): boolean => process.getBuiltinModule("node:tty").isatty(descriptor)

/** The reader of standard output, such as `head`, has stopped. No error, but the end of the program. */
export class ReaderGone extends Data.TaggedError("ReaderGone") {}

const notWritten = (cause: unknown): Effect.Effect<never, CannotDo> =>
  hasCode(cause, "EPIPE")
    ? Effect.die(new ReaderGone())
    : Effect.fail(
        new CannotDo({ message: `standard output cannot be written to, and may be incomplete: ${writeProblem(cause)}` })
      )

const tryWriteError = Option.liftThrowable((text: string) => writeSync(2, text))
const writeError = (text: string) => void tryWriteError(text)

/** Asks a stream only if it is a terminal: Node makes a pipe non-blocking when its stream is first used. */
const width = (stream: "output" | "error") => {
  const [descriptor, name] = stream === "output" ? ([1, "stdout"] as const) : ([2, "stderr"] as const)
  return isTerminal(descriptor) ? process[name].columns || undefined : undefined
}

const height = () => (isTerminal(1) ? process.stdout.rows || undefined : undefined)

const common = () => ({
  isTerminal: isTerminal(1),
  isErrorTerminal: isTerminal(2),
  width,
  height,
  writeError,
  writeFlushed,
  isLost
})

const writeToStream = (content: string | Uint8Array): Effect.Effect<void, CannotDo> =>
  Effect.async((resume) => {
    process.stdout.write(content, (error) =>
      resume(error === null || error === undefined ? Effect.void : notWritten(error))
    )
  })

/** The streams of this process. */
export const streams = Layer.sync(Output, () => {
  // Each write reports its own error. Without a listener, Node ends the process for it.
  process.stdout.on("error", () => {})
  return { ...common(), write: writeToStream }
})

/**
 * The descriptors of this process, without Node's streams: these make a pipe non-blocking when they are first used, for
 * every process that shares the pipe. The command of `run` does.
 */
export const descriptors = Layer.sync(Output, () => ({
  ...common(),
  write: (content) =>
    Effect.catchAll(
      Effect.try(() => (typeof content === "string" ? writeSync(1, content) : writeSync(1, content))),
      ({ error }) => notWritten(error)
    )
}))

/** The streams of a command that writes no notes. */
export const silent = Layer.map(descriptors, (context) =>
  Context.make(Output, { ...Context.get(context, Output), writeError: () => undefined })
)
