import { defined } from "@coffer/domain/base/Defined"
import { type AclRule, type Permission, permissions } from "@coffer/domain/access/AclRule"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import { call } from "../../client/Calls.js"
import { noteDone } from "../../state/Done.js"

/** The subject of a rule, by its name. */
export const subjectOf = ({ email, group, name, subject_id }: AclRule): string => email ?? group ?? name ?? subject_id

const placesOf = ({ env_pattern, project_pattern }: AclRule): string => `${project_pattern}/${env_pattern}`

const revoke = (org: OrgName, { id }: AclRule) =>
  call("acl", (api) => api.revoke({ path: { org_name: org, rule_id: id } }))

const grantAgain = (org: OrgName, rule: AclRule, permission: Permission) => {
  const { email, env_pattern, expires_at, group, project_pattern, subject_id } = rule
  const terms = {
    project_pattern: Pattern.to.make(project_pattern),
    env_pattern: Pattern.to.make(env_pattern),
    permission,
    ...defined({ expires_at })
  }
  const path = { org_name: org }
  return call("acl", (api) =>
    email !== undefined
      ? api.grant({ path, payload: { subject_type: "user", email, ...terms } })
      : group !== undefined
        ? api.grant({ path, payload: { subject_type: "group", group, ...terms } })
        : api.grant({
            path,
            payload: { subject_type: "service_account", subject_id: ServiceAccountId.make(subject_id), ...terms }
          })
  )
}

/** Says that a rule was granted. One that existed before had other terms, which nobody knows any more. */
export const noteGranted = (org: OrgName, rule: AclRule, changed: () => void): void => {
  const { created_at, permission, updated_at } = rule
  const what = `${subjectOf(rule)} may ${permission} in ${placesOf(rule)}.`
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
