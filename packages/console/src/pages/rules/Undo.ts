import { defined } from "@coffer/domain/base/Defined"
import { type AclRule, type Permission, permissions } from "@coffer/domain/access/AclRule"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { GroupName, OrgName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { call } from "../../client/Calls.js"
import type { Subject } from "../../kit/Explain.js"
import { noteDone } from "../../state/Done.js"

/** The subject of a rule, by its name. */
export const subjectOf = ({ email, group, name, subject_id }: AclRule): string => email ?? group ?? name ?? subject_id

/** The places and the keys of a rule. */
export const placesOf = ({ env_pattern, key_pattern = "", project_pattern }: AclRule): string =>
  `${project_pattern}/${env_pattern} ${key_pattern}`.trim()

/** The permission of a rule, with whether it is denied. */
export const permissionOf = ({ denies, permission }: AclRule): string => `${denies === true ? "not " : ""}${permission}`

const revoke = (org: OrgName, { id }: AclRule) =>
  call("acl", (api) => api.revoke({ path: { org_name: org, rule_id: id } }))

/** A subject of rules, as the contract names it. */
export type RuleSubject = Subject | { readonly subject_type: "group"; readonly group: GroupName }

interface Terms {
  readonly project_pattern: Pattern
  readonly env_pattern: Pattern
  readonly permission: Permission
  readonly key_pattern?: string
  readonly denies?: boolean
  readonly expires_at?: string
}

export const grantRule = (org: OrgName, subject: RuleSubject, terms: Terms) => {
  const path = { org_name: org }
  return call("acl", (api) =>
    subject.subject_type === "user"
      ? api.grant({ path, payload: { ...subject, ...terms } })
      : subject.subject_type === "group"
        ? api.grant({ path, payload: { ...subject, ...terms } })
        : api.grant({ path, payload: { ...subject, ...terms } })
  )
}

const grantAgain = (org: OrgName, rule: AclRule, permission: Permission) => {
  const { denies, email, env_pattern, expires_at, group, key_pattern, project_pattern, subject_id } = rule
  const terms = {
    project_pattern: Pattern.to.make(project_pattern),
    env_pattern: Pattern.to.make(env_pattern),
    permission,
    ...defined({ denies, expires_at, key_pattern })
  }
  const subject =
    email !== undefined
      ? { subject_type: "user" as const, email }
      : group !== undefined
        ? { subject_type: "group" as const, group }
        : { subject_type: "service_account" as const, subject_id: ServiceAccountId.make(subject_id) }
  return grantRule(org, subject, terms)
}

/** Says that a rule was granted. One that existed before had other terms, which nobody knows any more. */
export const noteGranted = (org: OrgName, rule: AclRule, changed: () => void): void => {
  const { created_at, updated_at } = rule
  const what = `${subjectOf(rule)} may ${permissionOf(rule)} in ${placesOf(rule)}.`
  noteDone(what, created_at === updated_at ? { effect: revoke(org, rule), done: changed } : null)
}

/** Says that a rule was revoked. */
export const noteRevoked = (org: OrgName, rule: AclRule, changed: () => void): void => {
  // A newer server may have others.
  const permission = permissions.find((one) => one === rule.permission)
  noteDone(
    `The rule of ${subjectOf(rule)} in ${placesOf(rule)} was revoked.`,
    permission === undefined ? null : { effect: grantAgain(org, rule, permission), done: changed }
  )
}
