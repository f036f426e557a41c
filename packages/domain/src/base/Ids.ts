import * as Schema from "effect/Schema"
import { withMessage } from "./Message.js"
import { withJsonSchema } from "./Schemas.js"

const id = <Brand extends string>(brand: Brand, what: string, example: string) =>
  Schema.String.pipe(
    Schema.pattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
      ...withMessage("must be a UUID in lowercase"),
      ...withJsonSchema(`the ${what}'s id`, { type: "string", format: "uuid" }),
      identifier: brand,
      examples: [example]
    }),
    Schema.brand(brand)
  )

export const UserId = id("UserId", "user", "5b0c7a0e-3f7d-4c1e-9a51-2f6d1c0b8e44")
export type UserId = typeof UserId.Type
export const OrgId = id("OrgId", "organization", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d20")
export type OrgId = typeof OrgId.Type
export const ProjectId = id("ProjectId", "project", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d30")
export type ProjectId = typeof ProjectId.Type
export const EnvId = id("EnvId", "environment", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d40")
export type EnvId = typeof EnvId.Type
export const SecretId = id("SecretId", "secret", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50")
export type SecretId = typeof SecretId.Type
export const RuleId = id("RuleId", "rule", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d60")
export type RuleId = typeof RuleId.Type
export const ServiceAccountId = id("ServiceAccountId", "service account", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d70")
export type ServiceAccountId = typeof ServiceAccountId.Type
export const GroupId = id("GroupId", "group", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df0")
export type GroupId = typeof GroupId.Type
export const SessionId = id("SessionId", "session", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d10")
export type SessionId = typeof SessionId.Type
export const DelegationId = id("DelegationId", "delegation", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd8")
export type DelegationId = typeof DelegationId.Type
export const PasskeyId = id("PasskeyId", "passkey", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df8")
export type PasskeyId = typeof PasskeyId.Type
export const ApiKeyId = id("ApiKeyId", "API key", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1da0")
export type ApiKeyId = typeof ApiKeyId.Type
export const FederationId = id("FederationId", "federation", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1db0")
export type FederationId = typeof FederationId.Type
export const UseRuleId = id("UseRuleId", "use rule", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dc0")
export type UseRuleId = typeof UseRuleId.Type
export const ConnectionId = id("ConnectionId", "connection", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dc8")
export type ConnectionId = typeof ConnectionId.Type
export const RotationId = id("RotationId", "rotation", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dca")
export type RotationId = typeof RotationId.Type
export const ScimTokenId = id("ScimTokenId", "token of SCIM", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dcc")
export type ScimTokenId = typeof ScimTokenId.Type
export const ScimUserId = id("ScimUserId", "person of a directory", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce")
export type ScimUserId = typeof ScimUserId.Type
export const LeaseRoleId = id("LeaseRoleId", "role", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1e02")
export type LeaseRoleId = typeof LeaseRoleId.Type
export const LeaseId = id("LeaseId", "lease", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1e04")
export type LeaseId = typeof LeaseId.Type
export const ApprovalId = id("ApprovalId", "approval", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0")
export type ApprovalId = typeof ApprovalId.Type
export const RequestId = id("RequestId", "request", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8")
export type RequestId = typeof RequestId.Type
export const WebhookId = id("WebhookId", "webhook", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de0")
export type WebhookId = typeof WebhookId.Type
export const WebhookDeliveryId = id("WebhookDeliveryId", "delivery", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dfe")
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type
export const TargetId = id("TargetId", "target", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df4")
export type TargetId = typeof TargetId.Type
export const AuditEntryId = id("AuditEntryId", "audit entry", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d80")
export type AuditEntryId = typeof AuditEntryId.Type
export const BackupId = id("BackupId", "backup", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90")
export type BackupId = typeof BackupId.Type
export const ExportId = id("ExportId", "export", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df1")
export type ExportId = typeof ExportId.Type
export const ImportId = id("ImportId", "import", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df2")
export type ImportId = typeof ImportId.Type
/** The id of a removed organization, project or environment. */
export const RemovedId = id("RemovedId", "removed place", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d40")
export type RemovedId = typeof RemovedId.Type
