import type { AclRule } from "@coffer/domain/access/AclRule"

/** The subject of a rule, for people. */
export const ruleSubject = (rule: AclRule) =>
  rule.group === undefined ? (rule.email ?? rule.name ?? rule.subject_id) : `group ${rule.group}`

/** The keys of a rule or of a reason, behind its place; nothing if they are all. */
export const forKeys = ({ key_pattern }: { readonly key_pattern?: string | undefined }): string =>
  key_pattern === undefined ? "" : ` for keys ${key_pattern}`

/** The permission of a rule, with whether it is denied. */
export const permissionText = ({ denies, permission }: Pick<AclRule, "denies" | "permission">): string =>
  denies === true ? `denies ${permission}` : permission
