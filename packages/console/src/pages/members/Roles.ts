import type { Role } from "@coffer/domain/directory/Member"

/** The rights of each role, as a sentence. */
export const roleRights: Readonly<Record<Role, string>> = {
  owner: "Everything: roles, the name and the end of the organization.",
  admin: "Every secret; projects, environments, members, rules, service accounts, the audit log.",
  developer: "Sees projects. Reads and writes what rules allow.",
  member: "Sees projects. Reads what rules allow, and never writes."
}
