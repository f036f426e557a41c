import type { HelperRule } from "./HelperRules.js"

export const serviceFileName = "service.yml"

export const serviceFileKeys = ["server_url", "org", "project", "env"] as const
export type ServiceFileKey = (typeof serviceFileKeys)[number]

/** The names of variables that `coffer run` may pass on although they make other programs run code. */
export const allowEnvKey = "allow_env"

/** Which credentials `coffer helper` gives to other programs. */
export const helpersKey = "helpers"

/** The roles of databases by which `coffer run` leases users, by the names of their variables. */
export const leasesKey = "leases"

/** The settings in `service.yml`, each with its line number. */
export interface ServiceFile extends Partial<Record<ServiceFileKey, { readonly text: string; readonly line: number }>> {
  [allowEnvKey]?: { readonly names: ReadonlyArray<string>; readonly line: number }
  [helpersKey]?: { readonly rules: ReadonlyArray<HelperRule>; readonly line: number }
  [leasesKey]?: { readonly roles: ReadonlyMap<string, string>; readonly line: number }
}

export const isServiceFileKey = (text: unknown): text is ServiceFileKey => serviceFileKeys.some((key) => key === text)

/** Whether a text can begin the names of a lease's variables, as `DB` does of `DB_URL`. */
export const isLeaseName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,50}$/.test(text)

/** Whether a text can be the name of a variable. */
export const isVariableName = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
