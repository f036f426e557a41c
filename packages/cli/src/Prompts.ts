import { Effect, Redacted } from "effect"
import { createInterface } from "node:readline"
import { StringDecoder } from "node:string_decoder"
import { CannotDo, plain, WrongUsage } from "./Failures.js"
import { HiddenLine, type HiddenState } from "./HiddenLine.js"
import { note } from "./Output.js"

/** Whether a person can be asked: standard input and standard error are terminals. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Asks for a line of text and trims it. The end of the input, or ctrl-C, ends the program. */
export const ask = (question: string): Effect.Effect<string> =>
  Effect.async((resume) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
    lines.once("close", () => resume(Effect.interrupt))
    lines.question(question, (answer) => {
      resume(Effect.succeed(answer.trim()))
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

const rawMode = Effect.acquireRelease(
  Effect.sync(() => {
    process.stdin.setRawMode(true)
    process.stderr.write(bracketedPaste.on)
    process.stdin.resume()
  }),
  () =>
    Effect.sync(() => {
      process.stderr.write(`${bracketedPaste.off}\n`)
      process.stdin.setRawMode(false)
      process.stdin.pause()
    })
)

/**
 * Asks for a text that is not shown. Several lines can be pasted if the terminal supports bracketed paste; otherwise they
 * are rejected, and none of them reaches the shell. The end of the input, or ctrl-C, ends the program.
 */
export const askHidden = (question: string): Effect.Effect<Redacted.Redacted> =>
  Effect.gen(function* () {
    const { state, text } = yield* Effect.scoped(
      Effect.zipRight(
        Effect.zipRight(
          rawMode,
          // The terminal would echo an answer that is typed before raw mode.
          Effect.sync(() => process.stderr.write(question))
        ),
        readRaw
      )
    )
    if (state === "cancelled") return yield* Effect.interrupt
    if (state === "done") return text
    yield* note("several lines came at once, and this terminal does not mark what is pasted: none was taken")
    return yield* askHidden(question)
  })

/** Asks for confirmation of a destructive command. Without a terminal, fails unless `yes` is set. */
export const confirm = (question: string, yes: boolean): Effect.Effect<void, CannotDo | WrongUsage> => {
  if (yes) return Effect.void
  if (!canAsk())
    return Effect.fail(new WrongUsage({ message: "nobody can be asked here: add --yes to go on without a question" }))
  return Effect.flatMap(ask(`${plain(question)} [y/N] `), (answer) =>
    /^y(es)?$/i.test(answer) ? Effect.void : Effect.fail(new CannotDo({ message: "nothing was changed" }))
  )
}
