import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { HiddenLine, type HiddenState } from "./HiddenLine.js"
import { isTerminal, Output } from "./Output.js"
import { note } from "./Print.js"

/** Standard input, and the person at it. The end of the input at a question, or ctrl-C, interrupts the program. */
export class Input extends Context.Tag("@coffer/cli/Input")<
  Input,
  {
    /** Whether a person can be asked: standard input and standard error are terminals. */
    readonly canAsk: boolean
    /** Standard input as bytes. */
    readonly open: () => Readable
    /** Asks for a line of text. */
    readonly ask: (question: string) => Effect.Effect<string>
    /** Asks for a text that is not shown. */
    readonly askHidden: (question: string) => Effect.Effect<Redacted.Redacted>
  }
>() {}

const ask = (question: string): Effect.Effect<string> =>
  Effect.async((resume) => {
    // Not imported: few commands ask.
    const { createInterface } = process.getBuiltinModule("node:readline")
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
    const leave = () => {
      // The shell's prompt begins on a line of its own.
      process.stderr.write("\n")
      resume(Effect.interrupt)
    }
    lines.once("close", leave)
    lines.question(question, (answer) => {
      lines.off("close", leave)
      resume(Effect.succeed(answer))
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })

/** How long after Enter further input belongs to the same paste, in milliseconds. */
const settling = 50

const bracketedPaste = { on: "\x1b[?2004h", off: "\x1b[?2004l" }

/** Reads a line in raw mode, until Enter. */
const readRaw = Effect.async<{ readonly state: HiddenState; readonly text: Redacted.Redacted }>((resume) => {
  const { stdin } = process
  const line = new HiddenLine()
  const decoder = new StringDecoder("utf8")
  let state: HiddenState = "typing"
  let timer: NodeJS.Timeout | undefined
  const end = () => {
    stdin.off("data", take)
    stdin.off("end", cancel)
    resume(Effect.succeed({ state, text: Redacted.make(line.text) }))
  }
  const cancel = () => {
    state = "cancelled"
    end()
  }
  const take = (chunk: Buffer) => {
    const text = decoder.write(chunk)
    if (state === "typing") state = line.feed(text)
    else if (text !== "") state = "lines"
    if (state === "cancelled") return end()
    clearTimeout(timer)
    if (state !== "typing") timer = setTimeout(end, settling)
  }
  stdin.on("data", take)
  stdin.on("end", cancel)
  return Effect.sync(() => {
    clearTimeout(timer)
    stdin.off("data", take)
    stdin.off("end", cancel)
  })
})

const rawMode = (writeError: (text: string) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      process.stdin.setRawMode(true)
      writeError(bracketedPaste.on)
      process.stdin.resume()
    }),
    () =>
      Effect.sync(() => {
        writeError(`${bracketedPaste.off}\n`)
        process.stdin.setRawMode(false)
        process.stdin.pause()
      })
  )

/**
 * Several lines can be pasted if the terminal supports bracketed paste; otherwise they are rejected, and none of them
 * reaches the shell.
 */
const askHidden = (question: string): Effect.Effect<Redacted.Redacted, never, Output> =>
  Effect.gen(function* () {
    const { writeError } = yield* Output
    // After raw mode begins: the terminal would echo an answer that is typed before.
    const { state, text } = yield* Effect.scoped(
      Effect.zipRight(
        Effect.tap(rawMode(writeError), () => writeError(question)),
        readRaw
      )
    )
    if (state === "cancelled") return yield* Effect.interrupt
    if (state === "done") return text
    yield* note("several lines came at once, and this terminal does not mark what is pasted: none was taken")
    return yield* askHidden(question)
  })

/** Standard input of this process. */
export const standardInput = Layer.effect(
  Input,
  Effect.map(Output, (output) => ({
    canAsk: isTerminal(0) && output.isErrorTerminal,
    open: () => process.stdin,
    ask,
    askHidden: (question) => Effect.provideService(askHidden(question), Output, output)
  }))
)
