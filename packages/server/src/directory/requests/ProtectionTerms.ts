import type { Approvers } from "@coffer/domain/access/Protection"
import type { Email } from "@coffer/domain/base/Names"
import { spanSeconds } from "@coffer/domain/base/Span"
import { approversText, type StoredProtection } from "../../access/gate/Protections.js"

export interface ProtectionRequest {
  readonly needed: number
  readonly approvers: Approvers
  readonly self?: boolean
  readonly break_glass?: ReadonlyArray<Email>
  readonly expires_after?: string
  readonly passkey?: boolean
}

export type Terms = Required<ProtectionRequest>

/** The terms as they are stored: with all defaults, and each list in order. */
export const termsOf = (request: ProtectionRequest): Terms => ({
  needed: request.needed,
  approvers: typeof request.approvers === "string" ? request.approvers : [...new Set(request.approvers)].sort(),
  self: request.self ?? false,
  break_glass: [...new Set(request.break_glass ?? [])].sort(),
  expires_after: request.expires_after ?? "72h",
  passkey: request.passkey ?? false
})

/** Whether a change lets nothing through that needed votes before: it may only be stricter. */
export const isStricter = (before: StoredProtection, after: Terms): boolean =>
  after.needed >= before.needed &&
  approversText(after.approvers) === approversText(before.approvers) &&
  (!after.self || before.self) &&
  (after.passkey || !before.passkey) &&
  after.break_glass.every((email) => before.break_glass.includes(email)) &&
  spanSeconds(after.expires_after) <= spanSeconds(before.expires_after)
