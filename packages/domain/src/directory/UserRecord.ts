import * as Schema from "effect/Schema"
import { grace, graceId } from "../base/Examples.js"
import { ServiceAccountId, UserId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { Email, OrgName, ProjectName, ServiceAccountName } from "../base/Names.js"
import { Count, createdAt, field, list, Timestamp } from "../base/Schemas.js"

/** The limit of counting a user's organizations and sessions, which bounds the cost of a page of users. */
export const maxCounted = 100

const fields = {
  id: field(UserId, "its id", graceId),
  email: field(Email, "the user's address", grace),
  name: field(Schema.String, "its name", "grace"),
  is_superadmin: field(Schema.Boolean, "whether it bypasses all roles and rules", false),
  disabled_at: field(Schema.NullOr(Timestamp), "time since when the user is disabled; null if enabled", null),
  created_at: createdAt,
  last_seen_at: field(
    Schema.NullOr(Timestamp),
    "time of the user's last login or request, to about a minute; null: never",
    "2026-02-01T08:30:00.000Z"
  ),
  organizations: field(Count, `number of organizations, counted up to ${maxCounted}`, 1),
  sessions: field(Count, `number of active sessions, counted up to ${maxCounted}`, 2)
}

/** A user, as superadmins see it. */
export const UserRecord = Schema.Struct(fields).annotations({
  identifier: "UserRecord",
  description: "a user of the server"
})
export type UserRecord = typeof UserRecord.Type

export const UserPage = Schema.Struct({
  ...list(UserRecord).fields,
  pagination: field(
    Schema.Struct({
      limit: field(Count, "maximum number of records in a page", 50),
      has_next: field(Schema.Boolean, "whether there are more records", false),
      next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
    }),
    "position of this page in the list"
  )
}).annotations({ identifier: "UserPage", description: "a page of users, by e-mail" })
export type UserPage = typeof UserPage.Type

/** A live service account that a user created. Its key stays valid when the user is disabled. */
export const CreatedAccount = Schema.Struct({
  id: field(ServiceAccountId, "its id"),
  name: field(ServiceAccountName, "its name"),
  org: field(OrgName, "the organization's name"),
  project: field(Schema.NullOr(ProjectName), "the project that it is bound to; null: the whole organization"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last use, to about a minute; null: never", null)
}).annotations({ identifier: "CreatedAccount", description: "a live service account that a user created" })
export type CreatedAccount = typeof CreatedAccount.Type

export const DisabledUser = Schema.Struct({
  ...fields,
  service_accounts: field(
    Schema.Array(CreatedAccount),
    "live service accounts that the user created, at most 1,000; their keys stay valid"
  )
}).annotations({
  identifier: "DisabledUser",
  description: "a user who was just disabled, and the service accounts that the user created"
})
export type DisabledUser = typeof DisabledUser.Type

const prefixMessage = withMessage("must be the beginning of an e-mail address, of at most 254 characters")
export const EmailPrefix = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,254}$/, {
    ...prefixMessage,
    description: "only users whose addresses start with this prefix",
    examples: ["grace@"]
  })
)

export const DisabledParameter = Schema.Literal("true", "false").annotations({
  ...withMessage("must be true or false"),
  description: "true: only disabled users; false: only enabled users",
  examples: ["false"]
})
