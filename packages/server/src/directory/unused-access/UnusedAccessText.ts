import type { AclRule } from "@coffer/domain/access/AclRule"
import type { OrgName } from "@coffer/domain/base/Names"
import { unusedDays } from "@coffer/domain/base/Usage"
import type { UnusedAccess } from "./UnusedAccess.js"

/** How many rules, and how many accounts, a mail names. */
const maxNamed = 50

const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`

const countsOf = ({ accounts, rules }: UnusedAccess): string =>
  [
    ...(rules.length === 0 ? [] : [count(rules.length, "access rule")]),
    ...(accounts.length === 0 ? [] : [count(accounts.length, "service account")])
  ].join(" and ")

const subjectOf = ({ email, group, name, subject_id }: AclRule): string =>
  group === undefined ? (email ?? name ?? subject_id) : `group ${group}`

const ruleText = (rule: AclRule): string =>
  `${subjectOf(rule)}: ${rule.permission} in ${rule.project_pattern}/${rule.env_pattern}${rule.key_pattern === undefined ? "" : ` for keys ${rule.key_pattern}`}`

const listOf = <A>(head: string, found: ReadonlyArray<A>, textOf: (one: A) => string, all: string): string =>
  found.length === 0
    ? ""
    : `${head}

${found
  .slice(0, maxNamed)
  .map((one) => `  ${textOf(one)}`)
  .join("\n")}
${found.length > maxNamed ? `  and ${found.length - maxNamed} more\n` : ""}
All of them: ${all}

`

export const unusedAccessSubject = (org: OrgName, unused: UnusedAccess): string =>
  `Unused access in ${org}: ${countsOf(unused)}`

export const unusedAccessText = (
  org: OrgName,
  unused: UnusedAccess
): string => `In the organization ${org} on Coffer, nobody has used ${countsOf(unused)} for ${unusedDays} days.

${listOf("Access rules:", unused.rules, ruleText, `coffer acl list --org ${org}, or the page Access rules`)}${listOf(
  "Service accounts:",
  unused.accounts,
  (name) => name,
  `coffer service-account list --org ${org}, or the page Service accounts`
)}To take back what nobody needs, run:

  coffer acl revoke ID --org ${org}
  coffer service-account revoke NAME --org ${org}

Nothing happens to what stays. The owners get this mail at most once a month, while something is unused. To end it, run:

  coffer org edit --unused-mail never --org ${org}
`
