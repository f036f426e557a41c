import * as Schema from "effect/Schema"
import { warnings } from "./DeclaredKey.js"
import { dueFields } from "./Due.js"
import { withMessage } from "../base/Message.js"
import { EnvName, SecretKey } from "../base/Names.js"
import { Pagination } from "../base/Pagination.js"
import {
  boundedArray,
  Count,
  createdAt,
  extensibleEnum,
  field,
  flagParameter,
  list,
  optional,
  Timestamp,
  updatedAt,
  VersionParameter
} from "../base/Schemas.js"
import { RedactedSecretValue } from "./SecretValues.js"

const databaseUrl = SecretKey.make("DATABASE_URL")

const key = field(SecretKey, "the secret's key")
const value = field(RedactedSecretValue, "the value, exactly as stored")
const version = field(Count, "the number of the version, from 1")
export const secretKinds = ["text", "reference"] as const

/** How a value is stored: as it is, or as a text that refers to other secrets. */
export type SecretKind = (typeof secretKinds)[number]

const Kind = extensibleEnum("SecretKind", "how the value is stored", secretKinds)

/** The kind of a value that is written. */
export const WrittenKind = Schema.Literal(...secretKinds).annotations({
  description:
    "`text` (the default) is stored as it is; in a `reference`, `${KEY}` stands for a secret of the same environment, `${env:KEY}` for one of another environment of the project, and `$${` for the characters `${`",
  examples: ["text"]
})

export const secretKind = optional(
  Kind,
  "`reference` if the stored text refers to other secrets; absent otherwise",
  "reference"
)
const kind = secretKind

/** The fields of a secret that others have too. */
export const secretFields = { key, value, version, kind }

/** A write only over the version that the caller knows. */
export const expectedVersion = optional(
  Count,
  "the expected current version, or 0 if the key must not exist; CONFLICT if it differs",
  2
)

export const SecretWritten = Schema.Struct({
  key,
  version,
  created_at: createdAt,
  updated_at: updatedAt,
  warnings
}).annotations({ identifier: "SecretWritten", description: "a secret after a write, without its value" })
export type SecretWritten = typeof SecretWritten.Type

export const SecretRead = Schema.Struct({
  key,
  value,
  version,
  kind
}).annotations({ identifier: "SecretRead", description: "a secret with its value, at one version" })
export type SecretRead = typeof SecretRead.Type

export const SecretListed = Schema.Struct({
  key,
  version,
  updated_at: updatedAt,
  removed_at: optional(Timestamp, "time of the removal; only in the list of removed secrets"),
  removed_by: optional(
    Schema.NullOr(Schema.String),
    "the e-mail or service account name of the remover; null if not recorded; only in the list of removed secrets",
    "ada@example.com"
  ),
  ...dueFields
}).annotations({ identifier: "SecretListed", description: "a secret without its value" })
export type SecretListed = typeof SecretListed.Type

/** The secrets of an environment; of the removed ones, a page. */
export const SecretList = Schema.Struct({
  ...list(SecretListed).fields,
  pagination: optional(Pagination, "position of this page in the list; only of removed secrets")
})

/** Asks for a comparison of neighbouring versions, in a query string. */
export const CompareParameter = flagParameter(
  "`1`: also whether each value equals the one before, and the class of its length"
)

/** Asks for removed secrets, in a query string. */
export const RemovedParameter = flagParameter("`1`: the removed secrets that can be restored")

/** Where a page of removed secrets begins. Opaque: clients send it back as `after`. */
export const RemovedCursor = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9_.-]{1,101}$/, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page; only with `removed`",
    examples: ["OLD_TOKEN-"]
  })
)

export const SecretVersion = Schema.Struct({
  version,
  created_at: createdAt,
  created_by: field(Schema.String, "the e-mail or service account name of the writer"),
  current: field(Schema.Boolean, "whether this is the current version"),
  destroyed: field(Schema.Boolean, "whether the value was permanently erased"),
  kind,
  same: optional(
    Schema.NullOr(Schema.Boolean),
    "whether its value equals that of the version before; null if either has no value that can be read; only with `compare`",
    false
  ),
  bytes_up_to: optional(
    Count,
    "the class of the value's length: the lowest of 0, 8, 16, 32 and so on that it does not exceed, in bytes of UTF-8; only with `compare`, and absent if it was destroyed",
    32
  )
}).annotations({
  identifier: "SecretVersion",
  description: "one version of a secret, without its value",
  examples: [
    {
      version: 3,
      created_at: "2026-02-01T08:30:00.000Z",
      created_by: "ada@example.com",
      current: true,
      destroyed: false
    },
    {
      version: 2,
      created_at: "2026-01-31T12:00:00.000Z",
      created_by: "deploy pipeline",
      current: false,
      destroyed: true
    }
  ]
})
export type SecretVersion = typeof SecretVersion.Type

export const erasures = ["now", "pending"] as const

const Erased = extensibleEnum("Erased", "whether the destroyed values are erased from the database's files", erasures)

export const SecretDestroyed = Schema.Struct({
  data: field(Schema.Array(SecretVersion), "the records"),
  erased: field(
    Erased,
    "whether the data keys are erased from the database's files: now, or pending (the server erases them later)"
  )
}).annotations({
  identifier: "SecretDestroyed",
  description: "the versions that were destroyed, without their values"
})
export type SecretDestroyed = typeof SecretDestroyed.Type

/** Numbers of versions, for a request. */
export const VersionNumbers = boundedArray(Count, {
  items: { $ref: "#/components/schemas/Count" },
  max: 1_000,
  text: "at most 1,000 versions at once",
  empty: "name at least one version"
})

/** The version to read, in a query string. */
export const ReadVersionParameter = VersionParameter.annotations({
  description: "the version to read; default: the current one",
  examples: [2]
})

/** Reads the text of a reference, not the value that it leads to. */
export const RawParameter = flagParameter("`1`: the text of references as written, not the values that they lead to")

/** Allows a change that leaves references without the secret that they name. */
export const ForceParameter = flagParameter("`1`: also if other secrets refer to the key; reading those then fails")

const SecretPlace = Schema.Struct({
  env: field(EnvName, "the environment"),
  key
}).annotations({ identifier: "SecretPlace", description: "where a secret is in its project" })

/** The secrets that a secret refers to, and those that refer to it. */
export const SecretReferences = Schema.Struct({
  kind: field(Kind, "how the value is stored", "reference"),
  refers_to: field(Schema.Array(SecretPlace), "the secrets that its current text names", [
    { env: EnvName.make("shared"), key: SecretKey.make("DB_PASSWORD") }
  ]),
  referred_by: field(Schema.Array(SecretPlace), "the secrets that name it, in environments that the caller may read", [
    { env: EnvName.make("prod"), key: databaseUrl }
  ]),
  hidden: field(Count, "how many more secrets name it, in environments that the caller may not read", 0)
}).annotations({
  identifier: "SecretReferences",
  description: "what a secret refers to and what refers to it, without values"
})
export type SecretReferences = typeof SecretReferences.Type
