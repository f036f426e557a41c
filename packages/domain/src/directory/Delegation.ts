import * as Schema from "effect/Schema"
import { DelegationId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { delegationNameForm, secretKeyForm } from "../base/NameForms.js"
import { EnvName, OrgName, ProjectName, SecretKey } from "../base/Names.js"
import { AskingProgram } from "./AskingProgram.js"
import { body, boundedArray, createdAt, extensibleEnum, field, optional, Timestamp } from "../base/Schemas.js"

/** In ascending order. `admin` is never delegated. */
export const delegablePermissions = ["use", "read", "write"] as const
export type DelegablePermission = (typeof delegablePermissions)[number]

/** How many delegations of a person may be alive. */
export const maxDelegations = 10

/** How many environments a delegation may be for. */
export const maxDelegatedEnvironments = 10

export const DelegationName = Schema.String.pipe(
  Schema.filter((text) => delegationNameForm.pattern.test(text), {
    ...withMessage(delegationNameForm.message),
    identifier: "DelegationName",
    description:
      "who or what it is for: 1 to 64 letters, digits, spaces, dots, underscores and hyphens, and not a UUID",
    jsonSchema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$" },
    examples: ["claude"]
  }),
  Schema.brand("DelegationName")
)
export type DelegationName = typeof DelegationName.Type

export const DelegablePermission = Schema.Literal(...delegablePermissions).annotations({
  ...withMessage("must be one of use, read, write"),
  description: "the highest permission that it gives, if the person has it",
  examples: ["read"]
})

const maxDelegatedKeys = 100

export const DelegatedKeys = boundedArray(SecretKey, {
  items: {
    type: "string",
    description: secretKeyForm.message,
    examples: ["DATABASE_URL"],
    pattern: secretKeyForm.pattern.source
  },
  max: maxDelegatedKeys,
  text: `at most ${maxDelegatedKeys} keys`,
  empty: "must name a key, or be left out for all keys"
})

const environment = {
  project: field(ProjectName, "the project's name"),
  env: field(EnvName, "the environment's name", EnvName.make("dev"))
}

/** An environment that a delegation is for, beside the first. */
export const DelegatedEnvironment = body(environment).annotations({
  identifier: "DelegatedEnvironment",
  description: "an environment of the organization"
})
export type DelegatedEnvironment = typeof DelegatedEnvironment.Type

const further = "the further environments that it is for"
const someEnvironments = [{ project: ProjectName.make("webshop"), env: EnvName.make("staging") }]

export const DelegatedEnvironments = optional(
  boundedArray(DelegatedEnvironment, {
    items: { $ref: "#/components/schemas/DelegatedEnvironment" },
    max: maxDelegatedEnvironments - 1,
    text: `at most ${maxDelegatedEnvironments - 1} further environments`
  }),
  further,
  someEnvironments
)

const secondsMessage = withMessage("must be a whole number of seconds from 60 to 31536000 (a year)")

export const DelegationSeconds = Schema.Int.annotations(secondsMessage).pipe(
  Schema.between(60, 31_536_000, {
    ...secondsMessage,
    description: "how long it lasts, in seconds; at most the server's SERVICE_DELEGATION_MAX_HOURS",
    examples: [28_800]
  })
)

const someKeys = [SecretKey.make("DATABASE_URL")]

const fields = {
  id: field(DelegationId, "its id"),
  name: field(Schema.String, "who or what it is for", "claude"),
  org: field(OrgName, "the organization's name"),
  ...environment,
  also: optional(Schema.Array(DelegatedEnvironment), further, someEnvironments),
  permission: field(
    extensibleEnum("DelegatedPermission", "the highest permission that it gives", delegablePermissions),
    "the highest permission that it gives, if the person has it",
    "read"
  ),
  reveal: field(Schema.Boolean, "whether it may read secret values", true),
  keys: optional(Schema.Array(SecretKey), "the only keys that it may name; absent: all keys", someKeys),
  expires_at: field(Timestamp, "time when it ends", "2026-01-31T20:00:00.000Z")
}

/** A delegation as its holder sees it. */
export const OwnDelegation = Schema.Struct(fields).annotations({
  identifier: "OwnDelegation",
  description: "the delegation of the credential: a part of the person's rights"
})
export type OwnDelegation = typeof OwnDelegation.Type

const listed = {
  ...fields,
  program: optional(AskingProgram, "the program that asked for it by OAuth; absent: the person made it"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last use, to about a minute; null: never", null)
}

export const Delegation = Schema.Struct(listed).annotations({
  identifier: "Delegation",
  description: "a part of a person's rights for an agent or a script, without its token"
})
export type Delegation = typeof Delegation.Type

export const NewDelegation = Schema.Struct({
  ...listed,
  token: field(
    // Not a valid token, so that secret scanners do not report the documentation.
    Schema.Redacted(Schema.String.annotations({ examples: ["svc_dt_…"] })),
    "the token, for `Authorization: Bearer`; returned only in this response"
  )
}).annotations({
  identifier: "NewDelegation",
  description: "a new delegation; its token is returned only once"
})
export type NewDelegation = typeof NewDelegation.Type
