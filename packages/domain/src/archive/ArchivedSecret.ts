import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { isStoredReason, reasonForm } from "../base/ReasonForm.js"
import { RotationDays } from "../secrets/Due.js"
import { withMessage } from "../base/Message.js"
import { Email, SecretKey } from "../base/Names.js"
import { body, boundedArray, Count, field, list, optional } from "../base/Schemas.js"
import { secretKinds } from "../secrets/Secret.js"
import { RedactedSecretValue, SecretValue } from "../secrets/SecretValues.js"
import { UseAccount, useRuleFields } from "../secrets/UseRule.js"
import { ArchivedTime } from "./ArchivedOrganization.js"

const authorMessage = withMessage("must be 1 to 254 characters without control characters")
const Author = Schema.String.pipe(
  Schema.filter((text) => text.length >= 1 && text.length <= 254 && !/\p{Cc}/u.test(text), authorMessage)
)

export const ArchivedUseRule = body({
  ...useRuleFields,
  // Possibly none: a rule outlives the accounts that it was for.
  accounts: field(
    boundedArray(UseAccount, { items: { type: "string" }, max: 50, text: "at most 50 accounts" }),
    "who may use it: names of service accounts, or e-mail addresses of people",
    ["agent"]
  ),
  expires_at: field(Schema.NullOr(ArchivedTime), "time when the rule ends, in UTC; null: never", null)
}).annotations({ identifier: "ArchivedUseRule", description: "a use rule of an archived secret" })
export type ArchivedUseRule = typeof ArchivedUseRule.Type

const StoredNote = Schema.String.pipe(
  Schema.filter(isStoredReason, {
    ...withMessage(`must be a text of 1 to ${reasonForm.maxLength} characters on one line`),
    jsonSchema: { type: "string", minLength: 1, maxLength: reasonForm.maxLength }
  })
)

const CurrentVersion = body({
  expires_at: optional(ArchivedTime, "when the value stops working", "2027-01-31T08:00:00.000Z"),
  rotate_every_days: optional(RotationDays, "the age in days at which a version is due to be replaced", 90),
  owner: optional(Email, "e-mail address of the owner", Email.to.make("ops@example.com")),
  use_rules: field(Schema.Array(ArchivedUseRule), "its use rules, oldest first", [])
}).annotations({ identifier: "ArchivedCurrentVersion", description: "what a secret has besides its versions" })

/** Revisions go on after the greatest of them. */
const maxRevision = 1_000_000_000

const valueMessage = withMessage("is required unless destroyed_at is set, and must be left out then")
const currentMessage = withMessage("a destroyed version cannot be the current one")

export const exampleVersion = {
  key: SecretKey.make("DATABASE_URL"),
  version: 3,
  value: Redacted.make(SecretValue.make("postgres://app@db.internal/shop")),
  created_at: "2026-01-31T12:00:00.000Z",
  created_by: "ada@example.com",
  current: { use_rules: [] }
}

/** A version of a secret, from 1 on without gaps. The last one is the current one, and has what belongs to the secret as a whole. */
export const ArchivedVersion = body({
  key: field(SecretKey, "the secret's key"),
  version: field(Count, "the number of the version, from 1", 3),
  kind: optional(
    Schema.Literal(...secretKinds).annotations(withMessage("must be text or reference")),
    "`reference` if the stored text refers to other secrets; absent otherwise",
    "reference"
  ),
  value: optional(
    RedactedSecretValue,
    "the value, of a reference its text as written; absent if the version was destroyed"
  ),
  created_at: field(ArchivedTime, "when the version was written"),
  created_by: field(Author, "the e-mail or service account name of the writer", "ada@example.com"),
  revision: optional(
    Count,
    "the number of the environment's revision that wrote it: versions of one revision were written together; absent from archives of 0.3.0",
    42
  ),
  note: optional(StoredNote, "what is said of that revision; absent: nothing", "rotated after INC-12"),
  destroyed_at: optional(
    ArchivedTime,
    "when the value was permanently erased, or left out of the archive; absent if it is there",
    "2026-02-01T08:30:00.000Z"
  ),
  current: optional(CurrentVersion, "what the secret has besides its versions; absent if the version is an earlier one")
}).annotations({
  identifier: "ArchivedVersion",
  description: "a version of an archived secret, with its value",
  examples: [exampleVersion]
})
export type ArchivedVersion = typeof ArchivedVersion.Type

/** Returns the problem with a version that its fields alone do not show; null if there is none. */
export const versionProblem = (archived: ArchivedVersion): string | null => {
  const { current, destroyed_at, note, revision, value, version } = archived
  if (version === 0) return "version: must be at least 1"
  if (revision !== undefined && (revision < 1 || revision > maxRevision)) return "revision: must be from 1 to a billion"
  if (note !== undefined && revision === undefined) return "note: is for a revision, and there is none"
  if ((value === undefined) !== (destroyed_at !== undefined)) return `value: ${valueMessage.message().message}`
  return current !== undefined && destroyed_at !== undefined ? `current: ${currentMessage.message().message}` : null
}

/** The files `projects/PROJECT/ENV/N.json` of an archive: the versions of all secrets, in byte order of keys and by their numbers. */
export const ArchivedVersions = body(list(ArchivedVersion).fields).annotations({
  identifier: "ArchivedVersions",
  description: "versions of an environment's secrets, with their values"
})
export type ArchivedVersions = typeof ArchivedVersions.Type
