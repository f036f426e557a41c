import * as Schema from "effect/Schema"
import { KeyPattern } from "../secrets/KeyPatterns.js"
import { Permission, ruleSubjectTypes } from "../access/AclRule.js"
import { newDeclaration, storedTexts } from "../secrets/DeclaredKey.js"
import { EnvironmentNames } from "../directory/Environment.js"
import { grace } from "../base/Examples.js"
import { Conditions, Issuer, MaxAge, PublicKeys, Ttl } from "../directory/Federation.js"
import { GroupEmails, ProviderGroup } from "../directory/Group.js"
import { Role } from "../directory/Member.js"
import { withMessage } from "../base/Message.js"
import {
  Email,
  EnvName,
  FederationName,
  GroupName,
  NewGroupName,
  ProjectName,
  SecretKey,
  ServiceAccountName
} from "../base/Names.js"
import { passkeyRecoveries, unusedAccessMailMeaning, UnusedAccessMailWord } from "../directory/Organization.js"
import { Pattern } from "../base/Pattern.js"
import { previewTerms } from "../access/Previews.js"
import { protectionTerms } from "../access/Protection.js"
import { body, field, list, optional, withJsonSchema } from "../base/Schemas.js"
import { AllowedNetworks, Days } from "../directory/ServiceAccount.js"
import { newWebhook, WebhookPlaces } from "../server/Webhook.js"

/** The largest structure of an organization that a server gives and takes, in bytes of JSON. */
export const maxStructureBytes = 16 * 1024 * 1024

const timeMessage = withMessage("must be a time in UTC to the millisecond, such as 2026-01-31T12:00:00.000Z")
const timeForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/

/** A time as the server writes it. */
export const ArchivedTime = Schema.String.pipe(
  Schema.filter(
    (text) =>
      timeForm.test(text) && !Number.isNaN(Date.parse(text)) && new Date(Date.parse(text)).toISOString() === text,
    {
      ...timeMessage,
      ...withJsonSchema("a time in UTC, to the millisecond", { type: "string", format: "date-time" }),
      identifier: "ArchivedTime",
      examples: ["2026-01-31T12:00:00.000Z"]
    }
  )
)

export const ArchivedMember = body({
  email: field(Email, "the member's address", grace),
  role: field(Role, "the role", "developer")
}).annotations({ identifier: "ArchivedMember", description: "a member of an archived organization" })
export type ArchivedMember = typeof ArchivedMember.Type

export const ArchivedGroup = body({
  name: field(NewGroupName, "its name"),
  members: field(GroupEmails, "the addresses of the members who were added; those whom a login brought are left out", [
    grace
  ])
}).annotations({ identifier: "ArchivedGroup", description: "a group of an archived organization" })
export type ArchivedGroup = typeof ArchivedGroup.Type

export const ArchivedMapping = body({
  provider_group: field(ProviderGroup, "a group as the provider names it in its tokens"),
  group: field(GroupName, "the group of the organization that it counts as")
}).annotations({ identifier: "ArchivedMapping", description: "a group of the provider that stands for a group" })

export const ArchivedFederation = body({
  name: field(FederationName, "its name"),
  issuer: field(Issuer, "the issuer of the tokens"),
  jwks: optional(PublicKeys, "the issuer's public keys, if they were uploaded"),
  conditions: field(Conditions, "the claims that a token must have"),
  max_age: field(MaxAge, "the greatest age of a token, in seconds", 600),
  ttl: field(Ttl, "how long a session lasts, in seconds", 900),
  expires_at: optional(ArchivedTime, "time when it ends; absent: never", "2027-01-31T08:00:00.000Z")
}).annotations({ identifier: "ArchivedFederation", description: "an issuer whose tokens an account signs in with" })
export type ArchivedFederation = typeof ArchivedFederation.Type

export const ArchivedAccount = body({
  name: field(ServiceAccountName, "its name"),
  project: optional(ProjectName, "the project that it is bound to; absent: the whole organization"),
  reveal: field(Schema.Boolean, "whether it may read secret values", true),
  expires_in_days: optional(Days, "how many days each key lasts; absent: it does not end", 90),
  allowed_networks: optional(AllowedNetworks, "the networks that it may call from; absent: any", ["10.0.0.0/8"]),
  federations: field(Schema.Array(ArchivedFederation), "its federations")
}).annotations({ identifier: "ArchivedAccount", description: "a service account without its key" })
export type ArchivedAccount = typeof ArchivedAccount.Type

/** Its subject is named by an address, or by the name of an account or a group. */
export const ArchivedRule = body({
  subject_type: field(
    Schema.Literal(...ruleSubjectTypes).annotations(withMessage("must be user, service_account or group")),
    "the kind of subject",
    "user"
  ),
  subject: field(
    Schema.String.pipe(
      Schema.filter((text) => text.length >= 1 && text.length <= 254, withMessage("must be 1 to 254 characters"))
    ),
    "the address of the person, or the name of the service account or the group",
    "grace@example.com"
  ),
  project_pattern: field(Pattern, "a name or pattern of projects", Pattern.to.make("webshop")),
  env_pattern: field(Pattern, "a name or pattern of environments", Pattern.to.make("{dev,staging}")),
  permission: field(Permission, "the permission", "write"),
  key_pattern: optional(KeyPattern, "the keys that it is for; absent: all", "API_*"),
  denies: optional(Schema.Literal(true), "true: it takes the permission from what other rules give"),
  expires_at: optional(ArchivedTime, "when the rule ends; absent: it lasts", "2027-01-31T08:00:00.000Z")
}).annotations({ identifier: "ArchivedRule", description: "an access rule of an archived organization" })
export type ArchivedRule = typeof ArchivedRule.Type

export const ArchivedWebhook = body({
  ...newWebhook,
  environments: field(WebhookPlaces, "the patterns of its environments", ["prod"]),
  enabled: field(Schema.Boolean, "whether it was sent events; an imported one starts disabled", true)
}).annotations({ identifier: "ArchivedWebhook", description: "a webhook without its signing key" })
export type ArchivedWebhook = typeof ArchivedWebhook.Type

export const ArchivedProtection = body(protectionTerms).annotations({
  identifier: "ArchivedProtection",
  description: "the votes that changes of an archived environment need"
})
export type ArchivedProtection = typeof ArchivedProtection.Type

export const ArchivedPlace = body({
  name: field(EnvName, "its name"),
  protection: optional(ArchivedProtection, "how it is protected; absent: it is not"),
  expires_at: optional(ArchivedTime, "when it ends; absent: it lasts", "2027-01-31T08:00:00.000Z"),
  from: optional(EnvName, "the environment that it was made as a copy of", EnvName.make("preview"))
}).annotations({
  identifier: "ArchivedPlace",
  description: "an environment of an archived organization, without secrets"
})
export type ArchivedPlace = typeof ArchivedPlace.Type

export const ArchivedProject = body({
  name: field(ProjectName, "its name"),
  strict: field(Schema.Boolean, "whether a value that breaks its declared pattern is refused", false),
  order: optional(EnvironmentNames, "the project's own order of its environments; absent: it has none", [
    EnvName.make("dev"),
    EnvName.make("prod")
  ]),
  previews: optional(
    body(previewTerms).annotations({
      identifier: "ArchivedPreviews",
      description: "the previews that an archived project allows"
    }),
    "the previews that it allows; absent: none"
  ),
  environments: field(Schema.Array(ArchivedPlace), "its environments")
}).annotations({ identifier: "ArchivedProject", description: "a project of an archived organization" })
export type ArchivedProject = typeof ArchivedProject.Type

/** The lists of a structure, each with the schema of its records: a server decodes and encodes them in slices. */
export const archivedRecords = {
  members: ArchivedMember,
  groups: ArchivedGroup,
  mappings: ArchivedMapping,
  projects: ArchivedProject,
  accounts: ArchivedAccount,
  rules: ArchivedRule,
  webhooks: ArchivedWebhook
}

/** The file `organization.json` of an archive: all but keys and secrets. Names stand where the server has ids. */
export const ArchivedOrganization = body({
  passkey_recovery: field(
    Schema.Literal(...passkeyRecoveries).annotations(withMessage("must be one of login, none")),
    "what removes a lost passkey of a member: a login, or nothing",
    "login"
  ),
  unused_access_mail: optional(UnusedAccessMailWord, `${unusedAccessMailMeaning}; absent: never`, "monthly"),
  members: field(Schema.Array(ArchivedMember), "the members"),
  groups: field(Schema.Array(ArchivedGroup), "the groups"),
  mappings: field(Schema.Array(ArchivedMapping), "which groups of the provider stand for which groups"),
  projects: field(Schema.Array(ArchivedProject), "the projects"),
  accounts: field(Schema.Array(ArchivedAccount), "the service accounts, without keys"),
  rules: field(
    Schema.Array(ArchivedRule),
    "the access rules that have not ended, without those that a request for access gave"
  ),
  webhooks: field(Schema.Array(ArchivedWebhook), "the webhooks, without signing keys")
}).annotations({ identifier: "ArchivedOrganization", description: "the structure of an organization, without secrets" })
export type ArchivedOrganization = typeof ArchivedOrganization.Type

/** A structure in lines, as `structureLines` makes it: decoded in slices, after the caller's right is known. */
export const StructureLines = Schema.String.annotations({
  description: "lines of JSON, each an object with one record of a list of `organization.json`, or with another field",
  examples: [
    [
      '{"passkey_recovery":"login"}',
      '{"members":{"email":"ada@example.com","role":"owner"}}',
      '{"projects":{"name":"webshop","strict":false,"environments":[{"name":"prod"}]}}'
    ].join("\n")
  ]
})

export const ArchivedDeclaration = body({
  key: field(SecretKey, "the secret's key"),
  ...newDeclaration,
  ...storedTexts
}).annotations({
  identifier: "ArchivedDeclaration",
  description: "what a project expects of a key"
})
export type ArchivedDeclaration = typeof ArchivedDeclaration.Type

/** The files `projects/PROJECT/declared.json` of an archive. */
export const ArchivedDeclarations = body(list(ArchivedDeclaration).fields).annotations({
  identifier: "ArchivedDeclarations",
  description: "what an archived project expects of its keys"
})
export type ArchivedDeclarations = typeof ArchivedDeclarations.Type
