import { Schema } from "effect"
import { AuditEntryId, OrgId } from "./Ids.js"
import { Count, list, extensibleEnum, Timestamp } from "./Schemas.js"

export const auditActions = [
  "auth.login",
  "auth.logout",
  "auth.verify",
  "auth.verify_failed",
  "auth.lockout",
  "org.create",
  "org.update",
  "org.delete",
  "org.member_invite",
  "org.member_remove",
  "org.member_role_update",
  "project.create",
  "project.update",
  "project.delete",
  "env.create",
  "env.delete",
  "env.revert",
  "secret.set",
  "secret.read",
  "secret.delete",
  "secret.copy",
  "secret.undelete",
  "secret.destroy",
  "secret.decryption_failed",
  "acl.grant",
  "acl.revoke",
  "service_account.create",
  "service_account.revoke",
  "service_account.rotate",
  "user.disable",
  "user.enable",
  "user.end_sessions",
  "backup.create",
  "backup.restore",
  "backup.drill",
  "key.rotate",
  "audit.break",
  "access.denied"
] as const
export type AuditAction = (typeof auditActions)[number]

export const actorTypes = ["user", "service_account", "system"] as const
export type ActorType = (typeof actorTypes)[number]

export const resourceTypes = [
  "user",
  "session",
  "org",
  "member",
  "project",
  "env",
  "secret",
  "acl_rule",
  "service_account",
  "backup",
  "server"
] as const
export type ResourceType = (typeof resourceTypes)[number]

export const AuditEntry = Schema.Struct({
  id: AuditEntryId,
  seq: Count,
  actor_type: extensibleEnum("ActorType", actorTypes),
  actor_id: Schema.NullOr(Schema.String),
  actor_name: Schema.String,
  action: extensibleEnum("AuditAction", auditActions),
  resource_type: extensibleEnum("ResourceType", resourceTypes),
  resource_id: Schema.NullOr(Schema.String),
  org_id: Schema.NullOr(OrgId),
  ip_address: Schema.NullOr(Schema.String),
  metadata: Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
    jsonSchema: { type: "object", additionalProperties: true },
    description: "details of the action, such as a key and a version; never a secret value"
  }),
  created_at: Timestamp
}).annotations({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditPage = Schema.Struct({
  ...list(AuditEntry).fields,
  pagination: Schema.Struct({
    total: Count,
    /** True if counting stopped at its limit, so that there are more than `total`. Only with `since` or `until`. */
    at_least: Schema.optionalWith(Schema.Boolean, { exact: true }),
    limit: Count,
    has_next: Schema.Boolean,
    next_cursor: Schema.NullOr(Schema.String)
  })
}).annotations({ identifier: "AuditPage" })
export type AuditPage = typeof AuditPage.Type

/** The state of a log's hash chain: its length, its head, and the first invalid entry. */
export const AuditVerification = Schema.Struct({
  valid: Schema.Boolean,
  entries: Count,
  head: Schema.NullOr(Schema.Struct({ seq: Count, chain: Schema.String })),
  first_invalid_seq: Schema.NullOr(Count)
}).annotations({ identifier: "AuditVerification" })
export type AuditVerification = typeof AuditVerification.Type
