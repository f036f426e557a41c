import { asciiDomain } from "./DomainNames.js"
import * as Schema from "effect/Schema"
import { withMessage } from "./Message.js"
import {
  accountNameForm,
  connectionNameForm,
  groupNameForm,
  envNameForm,
  federationNameForm,
  type Form,
  loginCodeLength,
  orgNameForm,
  projectNameForm,
  leaseRoleNameForm,
  rotationNameForm,
  secretKeyForm,
  targetNameForm
} from "./NameForms.js"
import { withJsonSchema } from "./Schemas.js"

const name = <Brand extends string>(brand: Brand, form: Form<Brand>, what: string, example: string) =>
  Schema.String.pipe(
    Schema.pattern(form.pattern, {
      ...withMessage(form.message),
      identifier: brand,
      description: `the ${what}'s name: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit`,
      examples: [example]
    }),
    Schema.brand(brand)
  )

export const OrgName = name("OrgName", orgNameForm, "organization", "acme")
export type OrgName = typeof OrgName.Type

export const ProjectName = name("ProjectName", projectNameForm, "project", "webshop")
export type ProjectName = typeof ProjectName.Type

export const EnvName = name("EnvName", envNameForm, "environment", "prod")
export type EnvName = typeof EnvName.Type

export const FederationName = name("FederationName", federationNameForm, "federation", "github")
export type FederationName = typeof FederationName.Type

export const ConnectionName = name("ConnectionName", connectionNameForm, "connection", "shop-db")
export type ConnectionName = typeof ConnectionName.Type

export const RotationName = name("RotationName", rotationNameForm, "rotation", "shop-app")
export type RotationName = typeof RotationName.Type

export const LeaseRoleName = name("LeaseRoleName", leaseRoleNameForm, "role", "app-role")
export type LeaseRoleName = typeof LeaseRoleName.Type

export const TargetName = name("TargetName", targetNameForm, "target", "ci")
export type TargetName = typeof TargetName.Type

export const SecretKey = Schema.String.pipe(
  Schema.pattern(secretKeyForm.pattern, {
    ...withMessage(secretKeyForm.message),
    identifier: "SecretKey",
    description:
      "the secret's key: 1 to 100 characters, a letter or underscore first, then letters, digits, underscores, dots and hyphens",
    examples: ["DATABASE_URL"]
  }),
  Schema.brand("SecretKey")
)
export type SecretKey = typeof SecretKey.Type

const emailMessage = "must be an e-mail address such as ada@example.com"
const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const atom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"

const NormalizedEmail = Schema.String.pipe(
  Schema.filter((text) => text.length <= 254 && text.indexOf("@") <= 64, withMessage(emailMessage)),
  Schema.pattern(new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`), withMessage(emailMessage)),
  Schema.brand("Email")
)

const normalizedEmail = (text: string): string => {
  const lower = text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  const at = lower.lastIndexOf("@") + 1
  return `${lower.slice(0, at)}${asciiDomain(lower.slice(at)) ?? lower.slice(at)}`
}

/**
 * An ASCII address (the dot-atom form of RFC 5321, section 4.1.2). Decoding trims it, makes it lowercase, and converts an
 * internationalized domain to ASCII, so that both of its forms are one person's.
 */
export const Email = Schema.transform(Schema.String.annotations(withMessage(emailMessage)), NormalizedEmail, {
  decode: normalizedEmail,
  encode: (email) => email
}).annotations({
  ...withJsonSchema("an e-mail address", { type: "string", format: "email", maxLength: 254 }),
  identifier: "Email",
  examples: [NormalizedEmail.make("ada@example.com")]
})
export type Email = typeof Email.Type

const accountNameDescription =
  "the service account's name: 1 to 64 letters, digits, spaces, dots, underscores and hyphens, starting with a letter or digit, and not a UUID"

export const ServiceAccountName = Schema.String.pipe(
  Schema.filter((text) => accountNameForm.pattern.test(text), {
    ...withMessage(accountNameForm.message),
    identifier: "ServiceAccountName",
    description: accountNameDescription,
    jsonSchema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$" },
    examples: ["deploy pipeline"]
  }),
  Schema.brand("ServiceAccountName")
)
export type ServiceAccountName = typeof ServiceAccountName.Type

// The regular expression takes quadratic time, so long texts are not trimmed. They are invalid anyway.
const withoutSpaces = (text: string): string => (text.length > 1_000 ? text : text.replace(/^ +| +$/g, ""))

/** The name of a new service account. Decoding removes leading and trailing spaces. */
export const NewServiceAccountName = Schema.transform(
  Schema.String.annotations(withMessage(accountNameForm.message)),
  ServiceAccountName,
  { decode: withoutSpaces, encode: (name) => name }
).annotations({
  ...withJsonSchema(accountNameDescription, { type: "string", pattern: "^ *[A-Za-z0-9][A-Za-z0-9 ._-]{0,63} *$" }),
  examples: [ServiceAccountName.make("deploy pipeline")]
})

const groupNameDescription =
  "the group's name: 1 to 64 letters, digits, spaces, dots, underscores and hyphens, starting with a letter or digit, and not a UUID"

export const GroupName = Schema.String.pipe(
  Schema.filter((text) => groupNameForm.pattern.test(text), {
    ...withMessage(groupNameForm.message),
    identifier: "GroupName",
    description: groupNameDescription,
    jsonSchema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$" },
    examples: ["backend"]
  }),
  Schema.brand("GroupName")
)
export type GroupName = typeof GroupName.Type

/** The name of a new group. Decoding removes leading and trailing spaces. */
export const NewGroupName = Schema.transform(Schema.String.annotations(withMessage(groupNameForm.message)), GroupName, {
  decode: withoutSpaces,
  encode: (name) => name
}).annotations({
  ...withJsonSchema(groupNameDescription, { type: "string", pattern: "^ *[A-Za-z0-9][A-Za-z0-9 ._-]{0,63} *$" }),
  examples: [GroupName.make("backend")]
})

export const loginCodeMessage = `a login code has ${loginCodeLength} digits`

export const LoginCode = Schema.Redacted(
  Schema.String.pipe(
    Schema.pattern(new RegExp(`^[0-9]{${loginCodeLength}}$`), {
      ...withMessage(loginCodeMessage),
      identifier: "LoginCode",
      description: "the 6 digits of the mail",
      examples: ["042137"]
    })
  )
)
