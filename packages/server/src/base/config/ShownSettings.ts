import type { ServerSetting } from "@coffer/domain/server/ServerFacts"
import * as Context from "effect/Context"
import * as Record from "effect/Record"
import { described } from "./Descriptions.js"
import type { ConfigProblem } from "./ConfigProblems.js"
import { superadminVariable } from "./Unknown.js"
import type { Environment } from "./Variables.js"

const masterKey = "SERVICE_MASTER_KEY"

/** The settings that this process was started with. */
export class GivenSettings extends Context.Reference<GivenSettings>()("@coffer/server/GivenSettings", {
  defaultValue: (): ReadonlyArray<ServerSetting> => []
}) {}

/** All settings in the order of the documentation, without secrets and invalid values. */
export const shownSettings = (
  environment: Environment,
  problems: ReadonlyArray<ConfigProblem>
): ReadonlyArray<ServerSetting> => {
  const isWrong = (variable: string) => problems.some((problem) => problem.variable === variable)
  const numbered = Record.keys(environment)
    .filter((variable) => superadminVariable.test(variable) && variable !== "SUPERADMIN_EMAIL_0")
    .map((variable) => ({ variable, secret: false, default: undefined }))
  return described
    .flatMap(({ title: group, variables }) => variables.map((one) => ({ ...one, group })))
    .flatMap(({ default: fallback, file, group, secret, variable }) => {
      const one = { variable, secret: file === true || secret === true, default: fallback, group }
      return variable === "SUPERADMIN_EMAIL_0" ? [one, ...numbered.map((each) => ({ ...each, group }))] : [one]
    })
    .map(({ default: fallback, group, secret, variable }) => {
      const source = [variable, `${variable}_FILE`].find((name) => !!environment[name] && (name === variable || secret))
      if (source === undefined) {
        return { variable, value: fallback ?? null, source: fallback === undefined ? "unset" : "default", group }
      }
      const value = isWrong(source)
        ? "not shown, because it is invalid"
        : secret
          ? variable === masterKey
            ? "set (64 hexadecimal digits)"
            : "set"
          : (environment[variable] ?? "")
      return { variable, value, source, group }
    })
}
