import * as Schema from "effect/Schema"
import { RequestId } from "../base/Ids.js"
import { SecretKey } from "../base/Names.js"
import { Count, createdAt, extensibleEnum, field, optional } from "../base/Schemas.js"
import { secretFields } from "./Secret.js"

const { key, version } = secretFields
const databaseUrl = SecretKey.make("DATABASE_URL")

export const revisionNumber = field(Count, "grows with every write or removal of a secret in the environment", 42)

export const revisionChanges = ["created", "updated", "deleted", "undeleted"] as const

export const RevisionKey = Schema.Struct({
  key,
  version,
  change: field(
    extensibleEnum("RevisionChange", "how a revision changed a key", revisionChanges),
    "the change of the key"
  )
}).annotations({ identifier: "RevisionKey", description: "one key that a revision changed" })

/** One change of an environment, without values. */
export const Revision = Schema.Struct({
  revision: revisionNumber,
  created_at: createdAt,
  created_by: field(
    Schema.NullOr(Schema.String),
    "the e-mail or service account name of the author; null if not recorded"
  ),
  keys: field(Schema.Array(RevisionKey), "the keys that the revision changed"),
  request_id: optional(RequestId, "the request that made it, if people approved it"),
  approved_by: optional(Schema.Array(Schema.String), "the e-mails of the people who approved it", [
    "grace@example.com"
  ]),
  note: optional(Schema.String, "what whoever made it said of it", "imported from doppler:webshop/prd")
}).annotations({
  identifier: "Revision",
  description: "one change of an environment: who made it, when, and which keys it changed",
  examples: [
    {
      revision: 42,
      created_at: "2026-02-01T08:30:00.000Z",
      created_by: "ada@example.com",
      keys: [
        { key: databaseUrl, version: 3, change: "updated" },
        { key: SecretKey.make("OLD_TOKEN"), version: 2, change: "deleted" }
      ]
    },
    {
      revision: 41,
      created_at: "2026-01-31T12:00:00.000Z",
      created_by: "deploy pipeline",
      keys: [{ key: SecretKey.make("API_KEY"), version: 2, change: "updated" }]
    }
  ]
})
export type Revision = typeof Revision.Type
