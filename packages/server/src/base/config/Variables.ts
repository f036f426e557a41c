import { readFile } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { Format } from "./SettingFormats.js"
import { problem, type Problems, type Setting } from "./ConfigProblems.js"

export type Environment = Readonly<Record<string, string | undefined>>

/** Functions that read one variable. An empty variable counts as unset. `onSecret` gets each secret that was read. */
export const reader = (
  environment: Environment,
  onSecret: (variable: string, value: string) => void = () => undefined
) => {
  const given = (variable: string): string | null => environment[variable] || null

  const decode = <A>(variable: string, format: Format<A>, text: string): Setting<A> =>
    Option.match(format.read(text), {
      onNone: () => problem(variable, format.rule),
      onSome: (value) => Effect.succeed(value)
    })

  const requiredProblem = (variable: string, format: Format<unknown>) =>
    problem(variable, `is required and ${format.rule}`)

  const optional = <A>(variable: string, format: Format<A>): Setting<A | null> => {
    const text = given(variable)
    return text === null ? Effect.succeed(null) : decode(variable, format, text)
  }

  const required = <A>(variable: string, format: Format<A>): Setting<A> => {
    const text = given(variable)
    return text === null ? requiredProblem(variable, format) : decode(variable, format, text)
  }

  const withDefault = <A, B>(variable: string, format: Format<A>, fallback: B): Setting<A | B> =>
    Effect.map(optional(variable, format), (value) => value ?? fallback)

  const hasSecret = (variable: string) => given(variable) !== null || given(`${variable}_FILE`) !== null

  /** Reads the variable, or the file that VARIABLE_FILE names without one newline at its end. */
  const secret = (variable: string, format: Format<string>): Setting<Redacted.Redacted | null> => {
    const path = given(`${variable}_FILE`)
    if (path === null) {
      return Effect.map(optional(variable, format), (value) => (value === null ? null : Redacted.make(value)))
    }
    if (given(variable) !== null) {
      return problem(variable, `and ${variable}_FILE are both set: give one of them`)
    }
    return Effect.tryPromise({
      try: () => readFile(path, "utf8"),
      // The message omits the path, because the secret itself may have been put there by mistake.
      catch: (error): Problems => [
        {
          variable: `${variable}_FILE`,
          rule: `must name a file that can be read${Predicate.hasProperty(error, "code") ? ` (${String(error.code)})` : ""}`
        }
      ]
    }).pipe(
      Effect.flatMap((content) => decode(`${variable}_FILE`, format, content.replace(/\r?\n$/, ""))),
      Effect.map((value) => {
        onSecret(variable, value)
        return Redacted.make(value)
      })
    )
  }

  const requiredSecret = (variable: string, format: Format<string>): Setting<Redacted.Redacted> =>
    Effect.flatMap(secret(variable, format), (value) =>
      value === null ? requiredProblem(variable, format) : Effect.succeed(value)
    )

  return { given, optional, required, withDefault, hasSecret, secret, requiredSecret }
}

export type Reader = ReturnType<typeof reader>
