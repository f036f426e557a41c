import * as Schema from "effect/Schema"
import { AuditEntryId, OrgId } from "../base/Ids.js"
import { Count, extensibleEnum, field, list, optional, Timestamp } from "../base/Schemas.js"

export const auditActions = [
  "auth.login",
  "auth.logout",
  "auth.verify",
  "auth.verify_failed",
  "auth.lockout",
  "auth.federate",
  "org.create",
  "org.update",
  "org.delete",
  "org.restore",
  "org.erase",
  "org.export",
  "org.export_approve",
  "org.export_end",
  "org.import",
  "org.member_invite",
  "org.member_remove",
  "org.member_role_update",
  "project.create",
  "project.update",
  "project.delete",
  "project.restore",
  "project.erase",
  "declared.set",
  "declared.delete",
  "previews.set",
  "previews.delete",
  "env.create",
  "env.extend",
  "env.expiring",
  "env.expire",
  "env.delete",
  "env.restore",
  "env.erase",
  "env.revert",
  "secret.set",
  "secret.read",
  "secret.check",
  "secret.compare",
  "secret.delete",
  "secret.update",
  "secret.due",
  "secret.copy",
  "secret.rotated",
  "secret.undelete",
  "secret.destroy",
  "secret.decryption_failed",
  "secret.use",
  "secret.answer",
  "secret.push",
  "push.failed",
  "target.create",
  "target.update",
  "target.delete",
  "use_rule.create",
  "use_rule.update",
  "use_rule.delete",
  "connection.create",
  "connection.delete",
  "connection.test",
  "rotation.create",
  "rotation.update",
  "rotation.delete",
  "rotation.run",
  "rotation.failed",
  "lease_role.create",
  "lease_role.delete",
  "lease.create",
  "lease.renew",
  "lease.revoke",
  "lease.ended",
  "lease.failed",
  "lease.left",
  "orphan.found",
  "orphan.delete",
  "approval.request",
  "approval.approve",
  "approval.refuse",
  "protection.set",
  "protection.delete",
  "request.create",
  "request.read",
  "request.approve",
  "request.refuse",
  "request.withdraw",
  "request.apply",
  "request.expire",
  "request.outdate",
  "secret.break_glass",
  "acl.grant",
  "acl.revoke",
  "acl.expire",
  "acl.review",
  "group.create",
  "group.update",
  "group.delete",
  "group.member_add",
  "group.member_remove",
  "group.members_set",
  "group.map",
  "group.login",
  "scim.enable",
  "scim.rotate",
  "scim.disable",
  "delegation.create",
  "delegation.revoke",
  "passkey.create",
  "passkey.delete",
  "service_account.create",
  "service_account.update",
  "service_account.revoke",
  "service_account.rotate",
  "service_account.expiring",
  "federation.create",
  "federation.revoke",
  "webhook.create",
  "webhook.update",
  "webhook.delete",
  "webhook.rotate",
  "webhook.test",
  "webhook.send",
  "webhook.disable",
  "user.disable",
  "user.enable",
  "user.end_sessions",
  "backup.create",
  "backup.restore",
  "backup.drill",
  "key.rotate",
  "audit.break",
  "audit.missing",
  "audit.archive",
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
  "group",
  "service_account",
  "delegation",
  "passkey",
  "federation",
  "webhook",
  "use_rule",
  "connection",
  "target",
  "rotation",
  "lease_role",
  "lease",
  "approval",
  "protection",
  "request",
  "backup",
  "server"
] as const
export type ResourceType = (typeof resourceTypes)[number]

const text = Schema.NullOr(Schema.String)

export const AuditEntry = Schema.Struct({
  id: field(AuditEntryId, "its id"),
  seq: field(Count, "its number in the log, without gaps", 128),
  actor_type: field(extensibleEnum("ActorType", "the kind of actor", actorTypes), "the kind of actor"),
  actor_id: field(text, "the actor's id; null if unknown", "5b0c7a0e-3f7d-4c1e-9a51-2f6d1c0b8e44"),
  actor_name: field(
    Schema.String,
    "the actor's e-mail or service account name at the time of the entry",
    "ada@example.com"
  ),
  action: field(
    extensibleEnum("AuditAction", "the action; later versions may add more", auditActions),
    "the action, such as secret.set",
    "secret.set"
  ),
  resource_type: field(
    extensibleEnum("ResourceType", "the kind of resource", resourceTypes),
    "the kind of resource",
    "secret"
  ),
  resource_id: field(text, "the id of the resource", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50"),
  org_id: field(Schema.NullOr(OrgId), "the organization's id; null for logins, backups and actions of the server"),
  ip_address: field(text, "the client's address, as reported by the proxy; null if unknown", "203.0.113.7"),
  metadata: field(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
      jsonSchema: { type: "object", additionalProperties: true }
    }),
    "details of the action, such as a key and a version; never a secret value",
    { project: "webshop", env: "prod", key: "DATABASE_URL", version: 3, client: "cli" }
  ),
  created_at: field(Timestamp, "time of creation", "2026-02-01T08:30:00.000Z")
}).annotations({ identifier: "AuditEntry", description: "a record of one action, read or denied request" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditPage = Schema.Struct({
  ...list(AuditEntry).fields,
  pagination: field(
    Schema.Struct({
      total: field(Count, "number of matching entries", 128),
      at_least: optional(
        Schema.Boolean,
        "true if there are more than `total`: with `since` or `until`, counting stops at 10,000"
      ),
      archived: optional(
        Count,
        "number of entries that left for archives: `total` does not count them; absent if none did"
      ),
      limit: field(Count, "maximum number of records in a page", 1),
      has_next: field(Schema.Boolean, "whether there are more records", true),
      next_cursor: field(text, "the `after` of the next page; null at the end", "s128")
    }),
    "position of this page in the list"
  )
}).annotations({ identifier: "AuditPage", description: "a page of an audit log, newest entry first" })
export type AuditPage = typeof AuditPage.Type

/** The state of a log's hash chain: its length, its head, and the first invalid entry. */
export const AuditVerification = Schema.Struct({
  valid: field(Schema.Boolean, "whether all entries are valid", true),
  entries: field(Count, "number of entries checked", 128),
  head: field(
    Schema.NullOr(
      Schema.Struct({
        seq: field(Count, "its number in the log, without gaps", 128),
        chain: field(
          Schema.String,
          "the hash at the head of the chain: 64 hexadecimal digits",
          "9f2c4e6a8b0d1f3e5a7c9b1d3f5e7a9c0b2d4f6e8a1c3b5d7f9e0a2c4b6d8f1e"
        )
      })
    ),
    "the end of the chain, to be recorded elsewhere; null for an empty log"
  ),
  first_invalid_seq: field(Schema.NullOr(Count), "the first invalid entry; null if all are valid", null),
  archived: optional(
    Count,
    "the last entry that left for an archive: those up to it were not checked; absent if none left"
  ),
  missing: optional(
    Schema.Array(OrgId),
    "only for the server's own log: organizations whose whole log is missing, at most 100; absent if there are none"
  ),
  first_invalid_log: optional(
    Count,
    "only for the server's own log: the first number in the list of all logs that does not fit; absent if all do"
  )
}).annotations({
  identifier: "AuditVerification",
  description: "the result of a verification, and the head of the log"
})
export type AuditVerification = typeof AuditVerification.Type
