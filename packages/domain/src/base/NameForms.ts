/** Formats of names, without schemas: loading those is too slow for `coffer run`. `Names.ts` builds schemas from these. */
import type * as Brand from "effect/Brand"

/** The format of a name. */
export interface NameForm<Name extends string> {
  readonly pattern: RegExp
  readonly maxLength: number
  /** The number of characters, and which these are. */
  readonly characters: string
  /** The error message for a text that does not match. */
  readonly message: string
  readonly is: (text: string) => text is Name
}

export type Form<B extends string> = NameForm<string & Brand.Brand<B>>

const form = <const B extends string>(
  _brand: B,
  what: string,
  [minLength, maxLength]: readonly [number, number],
  pattern: RegExp,
  rule: string
): Form<B> => {
  const characters = `${minLength} to ${maxLength} characters: ${rule}`
  return {
    pattern,
    maxLength,
    characters,
    message: `${what} has ${characters}`,
    is: (text): text is string & Brand.Brand<B> => pattern.test(text)
  }
}

const name = <const B extends string>(brand: B, what: string) =>
  form(
    brand,
    what,
    [2, 50],
    /^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$/,
    "lowercase letters, digits and hyphens, with a letter or digit first and last"
  )

export const orgNameForm = name("OrgName", "an organization name")
export const projectNameForm = name("ProjectName", "a project name")
export const envNameForm = name("EnvName", "an environment name")
export const federationNameForm = name("FederationName", "a federation name")
export const connectionNameForm = name("ConnectionName", "a connection name")
export const rotationNameForm = name("RotationName", "a rotation name")
export const leaseRoleNameForm = name("LeaseRoleName", "a role's name")
export const targetNameForm = name("TargetName", "a target name")

export const secretKeyForm = form(
  "SecretKey",
  "a secret key",
  [1, 100],
  /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/,
  "a letter or underscore first, then letters, digits, underscores, dots and hyphens"
)

/** A name that people choose, in place of which commands take an id. */
const chosenName = <const B extends string>(brand: B, what: string) =>
  form(
    brand,
    what,
    [1, 64],
    /^(?![0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$)[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/,
    "letters, digits, spaces, dots, underscores and hyphens, with a letter or digit first, and is not a UUID"
  )

export const accountNameForm = chosenName("ServiceAccountName", "a service account name")
export const groupNameForm = chosenName("GroupName", "a group name")
export const delegationNameForm = chosenName("DelegationName", "a delegation name")
export const passkeyNameForm = chosenName("PasskeyName", "a passkey name")

/** The number of digits of a login code. */
export const loginCodeLength = 6

/** A login code as people type or paste it, with spaces or hyphens anywhere: for the attribute `pattern` of a field. */
export const typedCodePattern = `[\\s\\-]*([0-9][\\s\\-]*){${loginCodeLength}}`
export const maxTypedCode = 40

/** A login code without the spaces and hyphens that it was typed or pasted with. */
export const typedCode = (text: string): string => text.slice(0, maxTypedCode).replace(/[\s-]/g, "")
