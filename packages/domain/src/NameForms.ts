/** Formats of names, without schemas: loading those is too slow for `coffer run`. `Names.ts` builds schemas from these. */
import type { Brand } from "effect"

export interface Form<B extends string> {
  readonly pattern: RegExp
  /** The error message for a text that does not match. */
  readonly message: string
  readonly is: (text: string) => text is string & Brand.Brand<B>
}

const form = <const B extends string>(_brand: B, pattern: RegExp, message: string): Form<B> => ({
  pattern,
  message,
  is: (text): text is string & Brand.Brand<B> => pattern.test(text)
})

const name = <const B extends string>(brand: B, what: string) =>
  form(
    brand,
    /^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$/,
    `${what} has 2 to 50 characters: lowercase letters, digits and hyphens, with a letter or digit first and last`
  )

export const orgNameForm = name("OrgName", "an organization name")
export const projectNameForm = name("ProjectName", "a project name")
export const envNameForm = name("EnvName", "an environment name")
export const federationNameForm = name("FederationName", "a federation name")

export const secretKeyForm = form(
  "SecretKey",
  /^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/,
  "a secret key has 1 to 100 characters: a letter or underscore first, then letters, digits, underscores, dots and hyphens"
)

export const accountNameForm = form(
  "ServiceAccountName",
  /^(?![0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$)[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/,
  "a service account name has 1 to 64 characters: letters, digits, spaces, dots, underscores and hyphens, with a letter or digit first, and is not a UUID"
)
