import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { masterKey as format } from "./SettingFormats.js"
import { keyFromCommand } from "./KeyCommand.js"
import { problem, type Problems, type Setting } from "./ConfigProblems.js"
import type { Environment, Reader } from "./Variables.js"

const variable = "SERVICE_MASTER_KEY"
const command = `${variable}_COMMAND`

/** Reads the master key from its variable, its file or its command: exactly one of them. */
export const masterKey = (environment: Environment, settings: Reader): Setting<Redacted.Redacted> => {
  const text = settings.given(command)
  const other = [variable, `${variable}_FILE`].find((name) => settings.given(name) !== null)
  if (text === null) return settings.requiredSecret(variable, format)
  return other === undefined
    ? Effect.mapError(keyFromCommand(text, environment), ({ message }): Problems => [
        { variable: command, rule: message }
      ])
    : problem(command, `and ${other} are both set: give one of them`)
}
