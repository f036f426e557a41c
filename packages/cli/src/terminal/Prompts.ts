import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { CannotDo, plain, WrongUsage } from "../base/Failures.js"
import { Input } from "./Input.js"

/** Whether a person can be asked. */
export const canAsk = Effect.map(Input, (input) => input.canAsk)

/** Asks for a line of text and trims it. */
export const ask = (question: string): Effect.Effect<string, never, Input> =>
  Effect.flatMap(Input, (input) => Effect.map(input.ask(question), (answer) => answer.trim()))

/** Asks for a text that is not shown. */
export const askHidden = (question: string): Effect.Effect<Redacted.Redacted, never, Input> =>
  Effect.flatMap(Input, (input) => input.askHidden(question))

/** Asks a question that is answered by yes or no. */
export const agrees = (question: string): Effect.Effect<boolean, never, Input> =>
  Effect.map(ask(`${plain(question)} [y/N] `), (answer) => /^y(es)?$/i.test(answer))

/** The same, where Enter means yes. */
export const agreesByEnter = (question: string): Effect.Effect<boolean, never, Input> =>
  Effect.map(ask(`${plain(question)} [Y/n] `), (answer) => answer === "" || /^y(es)?$/i.test(answer))

/** Asks for confirmation of a destructive command. Without a terminal, fails unless `yes` is set. */
export const confirm = (question: string, yes: boolean): Effect.Effect<void, CannotDo | WrongUsage, Input> =>
  Effect.gen(function* () {
    if (yes) return
    if (!(yield* canAsk)) {
      return yield* new WrongUsage({ message: "nobody can be asked here: add --yes to continue without a question" })
    }
    if (!(yield* agrees(question))) return yield* new CannotDo({ message: "nothing was changed" })
  })
