import type { Option } from "effect"
import { Array, Data, Effect, Record } from "effect"

export interface ConfigProblem {
  readonly variable: string
  /** A sentence's end: "SERVICE_PORT must be …". It never holds what was given. */
  readonly rule: string
}

/** Everything that is wrong with the settings, at once; the message is made for the person who starts the server. */
export class ConfigProblems extends Data.TaggedError("ConfigProblems")<{
  readonly problems: ReadonlyArray<ConfigProblem>
}> {
  override get message() {
    const count = this.problems.length === 1 ? "a setting is" : `${this.problems.length} settings are`
    return [
      `The server cannot start: ${count} not right.`,
      ...this.problems.map(({ rule, variable }) => `  ${variable} ${rule}`)
    ].join("\n")
  }
}

export type Problems = ReadonlyArray<ConfigProblem>
export type Setting<A> = Effect.Effect<A, Problems>

export const problem = (variable: string, rule: string): Setting<never> => Effect.fail([{ variable, rule }])

/** Asks more of a setting than its own text can tell. */
export const satisfying =
  <A>(variable: string, rule: string, holds: (value: A) => boolean) =>
  (setting: Setting<A>): Setting<A> =>
    Effect.filterOrFail(setting, holds, (): Problems => [{ variable, rule }])

/** The problems of all settings that were read together in the mode `validate`, as one list. */
export const joined = (errors: Record<string, Option.Option<Problems>>): Problems =>
  Array.flatten(Array.getSomes(Record.values(errors)))
