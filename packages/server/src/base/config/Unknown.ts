import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import * as Record from "effect/Record"
import { described } from "./Descriptions.js"
import type { Environment } from "./Variables.js"

/** A variable with one of Coffer's prefixes that neither the server nor a client reads. */
export interface UnknownSetting {
  readonly variable: string
  /** The most similar setting, or null. */
  readonly nearest: string | null
}

export const superadminVariable = /^SUPERADMIN_EMAIL_([0-9]+)$/

const own = /^(SERVICE|BACKUP|SMTP|SUPERADMIN|CORS)_/

/** The names of all settings of the server. */
export const settings: ReadonlyArray<string> = described.flatMap(({ variables }) =>
  variables.flatMap(({ file, variable }) => (file === true ? [variable, `${variable}_FILE`] : [variable]))
)

/** Variables of the clients and of `coffer master-key rotate`, which may be set in the same environment. */
const clients: ReadonlyArray<string> = [
  "SERVICE_SERVER_URL",
  "SERVICE_API_KEY",
  "SERVICE_API_KEY_FILE",
  "SERVICE_ACCOUNT",
  "SERVICE_ID_TOKEN",
  "SERVICE_ID_TOKEN_FILE",
  "SERVICE_HEADERS_FILE",
  "SERVICE_NON_INTERACTIVE",
  "SERVICE_ORG",
  "SERVICE_PROJECT",
  "SERVICE_ENV",
  "SERVICE_NEW_MASTER_KEY",
  "SERVICE_NEW_MASTER_KEY_FILE",
  "SERVICE_NEW_MASTER_KEY_COMMAND",
  "SERVICE_MCP_READ_ONLY",
  "SERVICE_MCP_REVEAL",
  "SERVICE_MCP_PIN",
  "SERVICE_MCP_EXTRA",
  "SERVICE_MCP_TOOLS",
  "SERVICE_MCP_USE"
]

const known: ReadonlyArray<string> = [...settings, ...clients]

const isKnown = (variable: string): boolean =>
  known.includes(variable) || superadminVariable.test(variable) || variable.startsWith("SERVICE_HEADER_")

const withoutPrefix = (name: string): string => name.slice(name.indexOf("_") + 1)

/** The edit distance; 1 if a setting begins with the variable, as SMTP_USERNAME with SMTP_USER, and a little more if it is its beginning. */
const distance = (variable: string, name: string): number => {
  if (name.startsWith(variable)) return 1
  return variable.startsWith(`${name}_`) ? 1.5 : editDistance(variable, name)
}

const nearest = (variable: string): string | null =>
  nearestBy(known, (name) => {
    const found = distance(variable, name)
    return found <= Math.max(2, withoutPrefix(variable).length / 2, withoutPrefix(name).length / 2) ? found : Infinity
  }) ?? null

/** Other programs read OpenTelemetry's variables too, so only near misspellings of the server's variables are reported. */
const isNearlyOtel = (variable: string): boolean =>
  variable.startsWith("OTEL_") && settings.some((name) => name.startsWith("OTEL_") && editDistance(variable, name) <= 2)

/** Returns the variables that look like settings but are not, and are probably misspelt. */
export const unknownSettings = (environment: Environment): ReadonlyArray<UnknownSetting> =>
  Record.toEntries(environment)
    .filter(([variable, value]) => !!value && (own.test(variable) || isNearlyOtel(variable)) && !isKnown(variable))
    .map(([variable]) => ({ variable, nearest: nearest(variable) }))

export const unknownMessage = ({ nearest, variable }: UnknownSetting): string =>
  nearest === null
    ? `${variable} is not a setting and is ignored: docs/configuration.md lists the settings`
    : `${variable} is not a setting and is ignored: did you mean ${nearest}?`
