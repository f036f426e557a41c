import { Context, Effect, Layer, Option } from "effect"
import { writeSync } from "node:fs"
import { CannotDo } from "../Failures.js"

/** Standard output and standard error. */
export class Output extends Context.Tag("@coffer/cli/Output")<
  Output,
  {
    /** Whether standard output is a terminal. */
    readonly isTerminal: boolean
    /** Whether standard error is a terminal. */
    readonly isErrorTerminal: boolean
    /** Writes to standard output. Returns after the write. */
    readonly write: (content: string | Uint8Array) => Effect.Effect<void, CannotDo>
    /** Writes to standard error, in one write. A failure is ignored. */
    readonly writeError: (text: string) => void
  }
>() {}

const isTerminal = (descriptor: number) => process.getBuiltinModule("node:tty").isatty(descriptor)

const notWritten = new CannotDo({ message: "standard output cannot be written to" })

const tryWriteError = Option.liftThrowable((text: string) => writeSync(2, text))
const writeError = (text: string) => void tryWriteError(text)

/** The streams of this process. */
export const streams = Layer.sync(Output, () => ({
  isTerminal: isTerminal(1),
  isErrorTerminal: isTerminal(2),
  writeError,
  write: (content) =>
    Effect.async((resume) => {
      process.stdout.write(content, (error) =>
        resume(error === null || error === undefined ? Effect.void : Effect.fail(notWritten))
      )
    })
}))

/**
 * The descriptors of this process, without Node's streams: these make a pipe non-blocking when they are first used, for
 * every process that shares the pipe. The command of `run` does.
 */
export const descriptors = Layer.sync(Output, () => ({
  isTerminal: isTerminal(1),
  isErrorTerminal: isTerminal(2),
  writeError,
  write: (content) =>
    Effect.asVoid(
      Effect.try({
        try: () => (typeof content === "string" ? writeSync(1, content) : writeSync(1, content)),
        catch: () => notWritten
      })
    )
}))

/** The streams of a command that writes no notes. */
export const silent = Layer.map(descriptors, (context) =>
  Context.make(Output, { ...Context.get(context, Output), writeError: () => undefined })
)
