import { Variables } from "@coffer/client/internal/Variables"
import { Effect, Layer, Redacted } from "effect"
import { Readable } from "node:stream"
import { execute } from "../../src/Execute.js"
import { Input } from "../../src/terminal/Input.js"
import { Output } from "../../src/terminal/Output.js"

export interface TerminalOptions {
  /** Standard input. */
  readonly input?: string
  /** A person's answers, question by question. Absent if nobody can be asked. */
  readonly answers?: ReadonlyArray<string>
  readonly isTerminal?: boolean
  /** The columns of the terminal. */
  readonly width?: number
  /** The lines of the terminal. */
  readonly height?: number
}

/** Runs a command of the client in this process, at a terminal of the test's. */
export const runInProcess = (
  argv: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  { answers, height, input = "", isTerminal = false, width }: TerminalOptions = {}
) => {
  let stdout = ""
  let stderr = ""
  const left = [...(answers ?? [])]
  const answer = (question: string) =>
    Effect.suspend(() => {
      stderr += question
      const next = left.shift()
      return next === undefined ? Effect.interrupt : Effect.succeed(next)
    })
  const terminal = Layer.merge(
    Layer.succeed(Output, {
      isTerminal,
      isErrorTerminal: isTerminal,
      width: () => width,
      height: () => height,
      write: (content) =>
        Effect.sync(() => {
          stdout += content.toString()
        }),
      writeFlushed: (text) =>
        Effect.sync(() => {
          stdout += text
        }),
      isLost: Effect.succeed(false),
      writeError: (text) => {
        stderr += text
      }
    }),
    Layer.succeed(Input, {
      canAsk: answers !== undefined,
      open: () => Readable.from([Buffer.from(input)]),
      ask: answer,
      askHidden: (question) => Effect.map(answer(question), (text) => Redacted.make(text))
    })
  )
  return execute(argv).pipe(
    Effect.provide(terminal),
    Effect.provideService(Variables, env),
    Effect.map((code) => ({ code, stdout, stderr }))
  )
}
