import { Schema } from "effect"
import { ServiceAccountId, UserId } from "./Ids.js"
import { Email, OrgName, ProjectName, ServiceAccountName } from "./Names.js"
import { Count, list, Timestamp } from "./Schemas.js"

/** The limit of counting a user's organizations and sessions, which bounds the cost of a page of users. */
export const maxCounted = 100

const counted = Count.annotations({ description: `counted up to ${maxCounted}` })

const fields = {
  id: UserId,
  email: Email,
  name: Schema.String,
  is_superadmin: Schema.Boolean,
  disabled_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  last_seen_at: Schema.NullOr(Timestamp),
  organizations: counted,
  sessions: counted
}

/** A user, as superadmins see it. */
export const UserRecord = Schema.Struct(fields).annotations({ identifier: "UserRecord" })
export type UserRecord = typeof UserRecord.Type

export const UserPage = Schema.Struct({
  ...list(UserRecord).fields,
  pagination: Schema.Struct({
    limit: Count,
    has_next: Schema.Boolean,
    next_cursor: Schema.NullOr(Schema.String)
  })
}).annotations({ identifier: "UserPage" })
export type UserPage = typeof UserPage.Type

/** A live service account that a user created. Its key stays valid when the user is disabled. */
export const CreatedAccount = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  org: OrgName,
  project: Schema.NullOr(ProjectName),
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp)
}).annotations({ identifier: "CreatedAccount" })
export type CreatedAccount = typeof CreatedAccount.Type

export const DisabledUser = Schema.Struct({
  ...fields,
  service_accounts: Schema.Array(CreatedAccount)
}).annotations({ identifier: "DisabledUser" })
export type DisabledUser = typeof DisabledUser.Type
