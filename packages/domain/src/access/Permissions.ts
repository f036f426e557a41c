import type { Permission } from "./AclRule.js"
import type { Role } from "../directory/Member.js"

/**
 * The requirements of an action.
 *
 * By role: at least `role` in the organization. `account` admits service accounts too: `any` of the organization, or a
 * `manager` (not scoped to a project, and with an `admin` rule).
 *
 * By rule: an access rule of at least `permission` for the environment. Users also need `role`; owners and admins need
 * no rule. `reveals` marks actions that return values: accounts with `reveal: false` may not do them. `people` marks actions
 * that no service account may do, whatever its rules.
 *
 * A delegation does what is by rule and not for people alone, within its permission, and what is `delegable`.
 */
export type Need =
  | {
      readonly on: "org" | "project" | "env"
      readonly role: Role
      readonly account?: "any" | "manager"
      readonly delegable?: true
    }
  | {
      readonly on: "env"
      readonly permission: Permission
      readonly role: Role
      readonly reveals?: true
      readonly people?: true
    }

/** The requirements of each action: the whole authorization table. Superadmins bypass it. */
export const needs = {
  "org.read": { on: "org", role: "member", account: "any" },
  "org.update": { on: "org", role: "owner" },
  "org.delete": { on: "org", role: "owner" },
  "org.restore": { on: "org", role: "owner" },
  "org.erase": { on: "org", role: "owner" },
  "org.export": { on: "org", role: "owner" },
  "member.list": { on: "org", role: "member" },
  "member.invite": { on: "org", role: "admin" },
  "member.update": { on: "org", role: "owner" },
  "member.remove": { on: "org", role: "admin" },
  "member.leave": { on: "org", role: "member" },
  "project.list": { on: "org", role: "member", account: "any" },
  "project.create": { on: "org", role: "admin" },
  "project.read": { on: "project", role: "member", account: "any" },
  "project.update": { on: "project", role: "admin" },
  "project.delete": { on: "project", role: "admin" },
  "project.restore": { on: "org", role: "admin" },
  "project.erase": { on: "org", role: "admin" },
  "declared.list": { on: "project", role: "member", account: "any" },
  "declared.set": { on: "project", role: "admin" },
  "declared.delete": { on: "project", role: "admin" },
  "previews.read": { on: "project", role: "member", account: "any" },
  "previews.set": { on: "project", role: "admin" },
  "previews.delete": { on: "project", role: "admin" },
  "env.list": { on: "project", role: "member", account: "any" },
  "env.create": { on: "project", role: "admin" },
  "env.extend": { on: "env", role: "admin" },
  "env.delete": { on: "env", role: "admin" },
  "env.restore": { on: "project", role: "admin" },
  "env.erase": { on: "project", role: "admin" },
  "secret.list": { on: "env", permission: "read", role: "member" },
  "secret.read": { on: "env", permission: "read", role: "member", reveals: true },
  "secret.compare": { on: "env", permission: "read", role: "member" },
  "secret.copy": { on: "env", permission: "read", role: "member" },
  "secret.write": { on: "env", permission: "write", role: "developer" },
  "secret.destroy": { on: "env", permission: "admin", role: "developer" },
  "due.list": { on: "org", role: "member", account: "any" },
  "key.find": { on: "org", role: "member", account: "any" },
  "secret.uses": { on: "env", permission: "use", role: "member" },
  "secret.use": { on: "env", permission: "use", role: "member" },
  "use_rule.list": { on: "env", permission: "admin", role: "developer", people: true },
  "use_rule.create": { on: "env", permission: "admin", role: "developer", people: true },
  "use_rule.update": { on: "env", permission: "admin", role: "developer", people: true },
  "use_rule.delete": { on: "env", permission: "admin", role: "developer", people: true },
  "connection.list": { on: "env", role: "admin" },
  "connection.create": { on: "env", role: "admin" },
  "connection.delete": { on: "env", role: "admin" },
  "connection.test": { on: "env", role: "admin" },
  "orphan.delete": { on: "env", role: "admin" },
  "target.list": { on: "env", permission: "admin", role: "developer", people: true },
  "target.create": { on: "env", permission: "admin", role: "developer", people: true },
  "target.update": { on: "env", permission: "admin", role: "developer", people: true },
  "target.delete": { on: "env", permission: "admin", role: "developer", people: true },
  "target.push": { on: "env", permission: "admin", role: "developer", people: true },
  "rotation.list": { on: "env", role: "admin" },
  "rotation.create": { on: "env", role: "admin" },
  "rotation.update": { on: "env", role: "admin" },
  "rotation.delete": { on: "env", role: "admin" },
  "rotation.run": { on: "env", role: "admin" },
  "lease_role.list": { on: "env", role: "admin" },
  "lease_role.create": { on: "env", role: "admin" },
  "lease_role.delete": { on: "env", role: "admin" },
  "lease.list": { on: "env", permission: "read", role: "member" },
  "lease.create": { on: "env", permission: "read", role: "member", reveals: true },
  "lease.renew": { on: "env", permission: "read", role: "member", reveals: true },
  "lease.revoke": { on: "env", permission: "read", role: "member" },
  "approval.list": { on: "org", role: "member" },
  "approval.decide": { on: "env", permission: "admin", role: "developer", people: true },
  "protection.read": { on: "env", role: "member", account: "any" },
  "protection.set": { on: "env", role: "owner" },
  "protection.delete": { on: "env", role: "owner" },
  "request.create": { on: "org", role: "member", account: "any", delegable: true },
  "request.list": { on: "org", role: "member", account: "any", delegable: true },
  "acl.list": { on: "org", role: "admin", account: "manager" },
  "acl.grant": { on: "org", role: "admin", account: "manager" },
  "acl.revoke": { on: "org", role: "admin", account: "manager" },
  "acl.explain": { on: "org", role: "member", account: "any", delegable: true },
  "access.list": { on: "env", role: "admin" },
  "access.review": { on: "env", role: "admin" },
  "group.list": { on: "org", role: "admin" },
  "group.create": { on: "org", role: "admin" },
  "group.update": { on: "org", role: "admin" },
  "group.delete": { on: "org", role: "admin" },
  "group.members": { on: "org", role: "admin" },
  "group.map": { on: "org", role: "owner" },
  "scim.read": { on: "org", role: "admin" },
  "scim.enable": { on: "org", role: "owner" },
  "scim.rotate": { on: "org", role: "owner" },
  "scim.disable": { on: "org", role: "owner" },
  "service_account.list": { on: "org", role: "admin" },
  "service_account.create": { on: "org", role: "admin" },
  "service_account.update": { on: "org", role: "admin" },
  "service_account.rotate": { on: "org", role: "admin" },
  "service_account.revoke": { on: "org", role: "admin" },
  "federation.list": { on: "org", role: "admin" },
  "federation.create": { on: "org", role: "admin" },
  "federation.revoke": { on: "org", role: "admin" },
  "webhook.list": { on: "org", role: "admin" },
  "webhook.create": { on: "org", role: "admin" },
  "webhook.update": { on: "org", role: "admin" },
  "webhook.delete": { on: "org", role: "admin" },
  "audit.read": { on: "org", role: "admin" },
  "audit.verify": { on: "org", role: "admin" }
} as const satisfies Record<string, Need>

export type Action = keyof typeof needs

/** The actions that a protected environment lets through only with votes: all that change what is in it. */
export const guardedActions = [
  "secret.write",
  "secret.destroy",
  "use_rule.create",
  "use_rule.update",
  "use_rule.delete",
  "connection.create",
  "connection.delete",
  "target.create",
  "target.update",
  "target.delete",
  "rotation.create",
  "rotation.update",
  "rotation.delete",
  "lease_role.create",
  "lease_role.delete",
  "env.extend",
  "env.delete",
  "protection.delete"
] as const satisfies ReadonlyArray<Action>
export type GuardedAction = (typeof guardedActions)[number]

const guarded: ReadonlySet<Action> = new Set(guardedActions)
export const isGuarded = (action: Action): boolean => guarded.has(action)

/** The actions that a project's previews open to those who write in it. */
export type PreviewAction = "env.create" | "env.extend" | "env.delete"

/** The level at which an action happens: organization, project or environment. */
export type ScopeOf<A extends Action> = (typeof needs)[A]["on"]
