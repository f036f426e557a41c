import type { OrgId, UserId } from "@coffer/domain/base/Ids"
import type { Email, GroupName } from "@coffer/domain/base/Names"
import type { AuditEvent, AuditSource } from "../audit/AuditEvent.js"
import { timestamp } from "../base/Time.js"

/** A person whom a login at the provider brought into groups of an organization. */
export interface Brought {
  readonly id: UserId
  readonly email: Email
  readonly orgId: OrgId
}

interface Groups {
  readonly added: ReadonlyArray<GroupName>
  readonly removed: ReadonlyArray<GroupName>
  /** When the login stops to count, in milliseconds since 1970; null: it brings none. */
  readonly expiresAt: number | null
}

export const loginGroupsSource = ({ email, id, orgId }: Brought): AuditSource => ({
  actor: { type: "user", id, name: email },
  orgId
})

/** The entry of the groups that a person is in by the last login, and was not in before, or the other way round. */
export const loginGroupsEvent = ({ email, id }: Brought, { added, expiresAt, removed }: Groups): AuditEvent => ({
  action: "group.login",
  resource_type: "member",
  resource_id: id,
  metadata: { email, added, removed, ...(expiresAt !== null && { expires_at: timestamp(expiresAt) }) }
})
