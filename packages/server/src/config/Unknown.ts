import { Record } from "effect"
import { described } from "./Descriptions.js"
import type { Environment } from "./Variables.js"

/** A variable that has a prefix of ours and that neither the server nor a client reads. */
export interface UnknownSetting {
  readonly variable: string
  /** The setting that was probably meant; null when none is similar. */
  readonly nearest: string | null
}

export const superadminVariable = /^SUPERADMIN_EMAIL_([0-9]+)$/

const own = /^(SERVICE|BACKUP|SMTP|SUPERADMIN|CORS)_/

const settings: ReadonlyArray<string> = described.flatMap(({ variables }) =>
  variables.flatMap(({ file, variable }) => (file === true ? [variable, `${variable}_FILE`] : [variable]))
)

/** The variables of the clients and of `coffer master-key rotate`, which may be set beside the server's. */
const clients: ReadonlyArray<string> = [
  "SERVICE_SERVER_URL",
  "SERVICE_API_KEY",
  "SERVICE_API_KEY_FILE",
  "SERVICE_ORG",
  "SERVICE_PROJECT",
  "SERVICE_ENV",
  "SERVICE_NEW_MASTER_KEY",
  "SERVICE_NEW_MASTER_KEY_FILE",
  "SERVICE_MCP_READ_ONLY",
  "SERVICE_MCP_REVEAL",
  "SERVICE_MCP_PIN"
]

const known: ReadonlyArray<string> = [...settings, ...clients]

const isKnown = (variable: string): boolean => known.includes(variable) || superadminVariable.test(variable)

/** The number of letters to insert, delete or replace (Levenshtein). */
const distance = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...a].entries()) {
    const next = [row + 1]
    for (const [column, other] of [...b].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    above = next
  }
  return above[b.length] ?? 0
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf("_") + 1)

/** A name that was cut short or continued counts as near: SMTP_USER means SMTP_USERNAME. */
const farness = (variable: string, name: string): number =>
  name.startsWith(variable) || variable.startsWith(`${name}_`) ? 1 : distance(variable, name)

const nearest = (variable: string): string | null => {
  const [first] = known
    .map((name) => ({ name, far: farness(variable, name) }))
    .filter(
      ({ far, name }) => far <= Math.max(2, Math.max(withoutPrefix(variable).length, withoutPrefix(name).length) / 2)
    )
    .sort((a, b) => a.far - b.far)
  return first?.name ?? null
}

/** OpenTelemetry's variables belong to many programs: only what is nearly one of those that the server reads is meant for it. */
const isNearlyOtel = (variable: string): boolean =>
  variable.startsWith("OTEL_") && settings.some((name) => name.startsWith("OTEL_") && distance(variable, name) <= 2)

/** The variables with a value that look like settings and are none: misspelt, most likely. */
export const unknownSettings = (environment: Environment): ReadonlyArray<UnknownSetting> =>
  Record.toEntries(environment)
    .filter(([variable, value]) => !!value && (own.test(variable) || isNearlyOtel(variable)) && !isKnown(variable))
    .map(([variable]) => ({ variable, nearest: nearest(variable) }))

export const unknownMessage = ({ nearest, variable }: UnknownSetting): string =>
  nearest === null
    ? `${variable} is no setting, and is ignored: docs/configuration.md lists the settings`
    : `${variable} is no setting, and is ignored: did you mean ${nearest}?`
