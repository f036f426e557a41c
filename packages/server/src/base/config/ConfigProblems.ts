import type * as Option from "effect/Option"
import * as Array from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"

export interface ConfigProblem {
  readonly variable: string
  /** Completes a sentence: "SERVICE_PORT must be …". Never contains the value. */
  readonly rule: string
}

/** All problems of the settings. The message is for the operator. */
export class ConfigProblems extends Data.TaggedError("ConfigProblems")<{
  readonly problems: ReadonlyArray<ConfigProblem>
}> {
  override get message() {
    const count = this.problems.length === 1 ? "a setting is" : `${this.problems.length} settings are`
    return [
      `The server cannot start: ${count} invalid.`,
      ...this.problems.map(({ rule, variable }) => `  ${variable} ${rule}`)
    ].join("\n")
  }
}

export type Problems = ReadonlyArray<ConfigProblem>
export type Setting<A> = Effect.Effect<A, Problems>

export const problem = (variable: string, rule: string): Setting<never> => Effect.fail([{ variable, rule }])

/** Adds a condition that depends on other settings. */
export const satisfying =
  <A>(variable: string, rule: string, holds: (value: A) => boolean) =>
  (setting: Setting<A>): Setting<A> =>
    Effect.filterOrFail(setting, holds, (): Problems => [{ variable, rule }])

/** Flattens the errors of `Effect.all` in the mode `validate`. */
export const joined = (errors: Record<string, Option.Option<Problems>>): Problems =>
  Array.flatten(Array.getSomes(Record.values(errors)))
