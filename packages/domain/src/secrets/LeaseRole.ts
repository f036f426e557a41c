import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { ConnectionName, LeaseRoleName } from "../base/Names.js"
import { boundedArray, createdAt, field, optional } from "../base/Schemas.js"
import { spanMillis, spanPattern } from "../base/Span.js"
import { defaultSql } from "./SqlTemplate.js"

const minute = 60_000
const day = 24 * 60 * minute
export const leaseSpanMessage = "must be a length of time such as 30m or 1h: 1 minute to 30 days"
export const LeaseSpan = Schema.String.pipe(
  Schema.filter((text) => spanMillis(text) >= minute && spanMillis(text) <= 30 * day, withMessage(leaseSpanMessage))
).annotations({ jsonSchema: { type: "string", pattern: spanPattern } })

const statementMessage = withMessage("must be a statement of at most 4,000 characters")
const Statement = Schema.String.annotations(statementMessage).pipe(
  Schema.filter((text) => text.trim() !== "" && text.length <= 4_000 && !text.includes("\0"), statementMessage)
)
const Statements = boundedArray(Statement, {
  items: { type: "string" },
  max: 20,
  text: "must be at most 20 statements",
  empty: "must be at least one statement"
})

export const leaseRoleDefaults = { default_ttl: "1h", max_ttl: "24h" } as const

const texts = {
  name: "its name",
  connection: "the connection by which users are made and removed",
  create:
    "the statements that make a user, with {{name}}, {{password}}, {{expires}} and {{database}}, which the server quotes; for http, texts that the program reads",
  revoke: "the statements that remove it, with {{name}}; its sessions are ended before",
  default_ttl: "how long a lease lasts unless its caller says so, 1m to 30d",
  max_ttl: "how long it lasts at most, with all renewals"
}

const examples = {
  name: LeaseRoleName.make("app-role"),
  connection: ConnectionName.make("shop-db"),
  create: defaultSql.postgres.create,
  revoke: defaultSql.postgres.revoke
}

const { default_ttl, max_ttl } = leaseRoleDefaults

export const newLeaseRole = {
  name: field(LeaseRoleName, texts.name, examples.name),
  connection: field(ConnectionName, texts.connection, examples.connection),
  create: optional(Statements, `${texts.create}; default: those of the connection's kind`, examples.create),
  revoke: optional(Statements, `${texts.revoke}; default: those of the connection's kind`, examples.revoke),
  default_ttl: optional(LeaseSpan, `${texts.default_ttl}; default: ${default_ttl}`, default_ttl),
  max_ttl: optional(LeaseSpan, `${texts.max_ttl}; default: ${max_ttl}`, max_ttl)
}

export const LeaseRole = Schema.Struct({
  name: field(LeaseRoleName, texts.name, examples.name),
  connection: field(ConnectionName, texts.connection, examples.connection),
  create: field(Schema.Array(Schema.String), texts.create, examples.create),
  revoke: field(Schema.Array(Schema.String), texts.revoke, examples.revoke),
  default_ttl: field(Schema.String, texts.default_ttl, default_ttl),
  max_ttl: field(Schema.String, texts.max_ttl, max_ttl),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt
}).annotations({
  identifier: "LeaseRole",
  description: "how a user in a database is made for each caller, and removed"
})
export type LeaseRole = typeof LeaseRole.Type
