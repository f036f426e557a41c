import { isNotForChildren, isOwnCredential } from "@coffer/domain/secrets/DangerousVariables"

/** The variables for requesting tokens from a CI system. If the account signs in with such a token, so can the command. */
const tokenRequest = new Set(["ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"])

export interface PlainSecret {
  readonly key: string
  readonly value: string
}

export interface ChildEnvironment {
  readonly env: Readonly<Record<string, string>>
  /** Keys that are no valid names of variables. */
  readonly unnameable: ReadonlyArray<string>
  /** Keys that make other programs run code. */
  readonly dangerous: ReadonlyArray<string>
  /** Keys with a NUL byte in the value. */
  readonly withNul: ReadonlyArray<string>
  /** Keys whose inherited variable has another value, which the command keeps. */
  readonly kept: ReadonlyArray<string>
}

interface Rules {
  /** Keys that are passed on although they make other programs run code. */
  readonly allowed: ReadonlySet<string>
  /** Whether secrets go before inherited variables. */
  readonly isOverriding: boolean
}

/** The environment of the command: the inherited variables and the secrets. */
export const childEnvironment = (
  inherited: Readonly<Record<string, string | undefined>>,
  secrets: ReadonlyArray<PlainSecret>,
  { allowed, isOverriding }: Rules
): ChildEnvironment => {
  // Not an object: a variable may have the name `__proto__`.
  const env = new Map<string, string>()
  const isSigningIn = (inherited["SERVICE_ACCOUNT"] ?? "") !== ""
  const isWithheld = (name: string) =>
    isOwnCredential(name) || (isSigningIn && tokenRequest.has(name) && !allowed.has(name))
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !isWithheld(name)) env.set(name, value)
  }
  const leftOut = { unnameable: Array.of<string>(), dangerous: Array.of<string>(), withNul: Array.of<string>() }
  const kept: Array<string> = []
  for (const { key, value } of secrets) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) leftOut.unnameable.push(key)
    else if (isNotForChildren(key) && !allowed.has(key)) leftOut.dangerous.push(key)
    else if (value.includes("\0")) leftOut.withNul.push(key)
    else if (isOverriding || !env.has(key)) env.set(key, value)
    else if (env.get(key) !== value) kept.push(key)
  }
  return { env: Object.fromEntries(env), ...leftOut, kept }
}
