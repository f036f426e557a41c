import { type Permission, permissions } from "@coffer/domain/access/AclRule"
import type { AuditAction } from "@coffer/domain/audit/AuditEntry"

type PlaceAction = Extract<AuditAction, `secret.${string}` | `use_rule.${string}` | "env.revert">

/** The permission that an entry shows the use of; null: of none, or of the server's own acts. */
const usesOf: Readonly<Record<PlaceAction, Permission | null>> = {
  "env.revert": "write",
  "secret.set": "write",
  "secret.read": "read",
  "secret.check": "read",
  "secret.compare": "read",
  "secret.delete": "write",
  "secret.update": "write",
  "secret.due": null,
  "secret.copy": "write",
  "secret.rotated": null,
  "secret.undelete": "write",
  "secret.destroy": "admin",
  "secret.decryption_failed": null,
  "secret.use": "use",
  "secret.answer": "use",
  "secret.break_glass": "write",
  // Also of the environments that references passed, which needs no more.
  "secret.push": "read",
  "use_rule.create": "admin",
  "use_rule.update": "admin",
  "use_rule.delete": "admin"
}

const ranks: ReadonlyMap<string, number> = new Map(
  Object.entries(usesOf).flatMap(([action, needed]) =>
    needed === null ? [] : [[action, permissions.indexOf(needed)] as const]
  )
)

/** The actions that show the use of a permission. */
export const useActions: ReadonlyArray<string> = [...ranks.keys()]

/** The rank of the permission that an action needs. */
export const rankOf = (action: string): number => ranks.get(action) ?? permissions.length

/** The actions that need at least a permission. */
export const actionsOf = (permission: Permission): ReadonlyArray<string> =>
  useActions.filter((action) => rankOf(action) >= permissions.indexOf(permission))
