import { Schema } from "effect"
import { withMessage } from "./Message.js"

const id = <Brand extends string>(brand: Brand) =>
  Schema.String.pipe(
    Schema.pattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
      ...withMessage("must be a UUID in lowercase"),
      identifier: brand,
      jsonSchema: { type: "string", format: "uuid" },
      examples: ["0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"]
    }),
    Schema.brand(brand)
  )

export const UserId = id("UserId")
export type UserId = typeof UserId.Type
export const OrgId = id("OrgId")
export type OrgId = typeof OrgId.Type
export const ProjectId = id("ProjectId")
export type ProjectId = typeof ProjectId.Type
export const EnvId = id("EnvId")
export type EnvId = typeof EnvId.Type
export const SecretId = id("SecretId")
export type SecretId = typeof SecretId.Type
export const RuleId = id("RuleId")
export type RuleId = typeof RuleId.Type
export const ServiceAccountId = id("ServiceAccountId")
export type ServiceAccountId = typeof ServiceAccountId.Type
export const SessionId = id("SessionId")
export type SessionId = typeof SessionId.Type
export const ApiKeyId = id("ApiKeyId")
export type ApiKeyId = typeof ApiKeyId.Type
export const AuditEntryId = id("AuditEntryId")
export type AuditEntryId = typeof AuditEntryId.Type
export const BackupId = id("BackupId")
export type BackupId = typeof BackupId.Type
