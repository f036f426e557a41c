import { Record } from "effect"
import { described } from "../config/Descriptions.js"
import type { ConfigProblem } from "../config/Problems.js"
import { superadminVariable } from "../config/Unknown.js"
import type { Environment } from "../config/Variables.js"

/** A setting as `coffer-server check` prints it. Secrets and invalid values are not shown. */
export interface ShownSetting {
  readonly variable: string
  readonly value: string | null
  /** The variable with the value, or with the name of its file; `default`, or `unset`. */
  readonly source: string
}

const masterKey = "SERVICE_MASTER_KEY"

/** All settings, in the order of the documentation. */
export const shownSettings = (
  environment: Environment,
  problems: ReadonlyArray<ConfigProblem>
): ReadonlyArray<ShownSetting> => {
  const isWrong = (variable: string) => problems.some((problem) => problem.variable === variable)
  const numbered = Record.keys(environment)
    .filter((variable) => superadminVariable.test(variable) && variable !== "SUPERADMIN_EMAIL_0")
    .map((variable) => ({ variable, secret: false, default: undefined }))
  return described
    .flatMap(({ variables }) => variables)
    .flatMap(({ default: fallback, file, secret, variable }) => {
      const one = { variable, secret: file === true || secret === true, default: fallback }
      return variable === "SUPERADMIN_EMAIL_0" ? [one, ...numbered] : [one]
    })
    .map(({ default: fallback, secret, variable }) => {
      const source = [variable, `${variable}_FILE`].find((name) => !!environment[name] && (name === variable || secret))
      if (source === undefined) {
        return { variable, value: fallback ?? null, source: fallback === undefined ? "unset" : "default" }
      }
      const value = isWrong(source)
        ? "not shown, because it is invalid"
        : secret
          ? variable === masterKey
            ? "set (64 hexadecimal digits)"
            : "set"
          : (environment[variable] ?? "")
      return { variable, value, source }
    })
}
