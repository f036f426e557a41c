import { Effect, Redacted } from "effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { CannotDo, WrongUsage } from "./Failures.js"

/** Whether there is a person to ask: at standard input, reading standard error. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Asks for a line. Ending the input, or ctrl-C, ends the program. */
const readLine = (question: string, output: Writable): Effect.Effect<string> =>
  Effect.async((resume) => {
    const lines = createInterface({ input: process.stdin, output, terminal: true })
    lines.once("close", () => resume(Effect.interrupt))
    lines.question(question, (answer) => {
      resume(Effect.succeed(answer))
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })

/** Asks for a line of text; spaces around it do not count. */
export const ask = (question: string): Effect.Effect<string> =>
  Effect.map(readLine(question, process.stderr), (answer) => answer.trim())

/** Asks for a line that is not shown while it is typed. */
export const askHidden = (question: string): Effect.Effect<Redacted.Redacted> =>
  Effect.suspend(() => {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    process.stderr.write(question)
    return readLine("", nowhere).pipe(
      Effect.ensuring(Effect.sync(() => process.stderr.write("\n"))),
      Effect.map((answer) => Redacted.make(answer))
    )
  })

/** Asks before something is destroyed; without a person to ask, `--yes` must have said so. */
export const confirm = (question: string, yes: boolean): Effect.Effect<void, CannotDo | WrongUsage> => {
  if (yes) return Effect.void
  if (!canAsk())
    return Effect.fail(new WrongUsage({ message: "nobody can be asked here: add --yes to go on without a question" }))
  return Effect.flatMap(ask(`${question} [y/N] `), (answer) =>
    /^y(es)?$/i.test(answer) ? Effect.void : Effect.fail(new CannotDo({ message: "nothing was changed" }))
  )
}
