/** Those who have access to environments as comma-separated values, for an access review. */
import type { AccessHolder } from "./AccessHolder.js"
import { csvLine } from "../base/CsvLine.js"
import type { EnvName, ProjectName } from "../base/Names.js"

/** Those who have a permission in an environment. */
export interface PlaceHolders {
  readonly project: ProjectName
  readonly env: EnvName
  readonly holders: ReadonlyArray<AccessHolder>
}

export const holderName = ({ email, group, id, name }: AccessHolder): string => email ?? name ?? group ?? id

const columns = [
  ...["project", "environment", "kind", "who", "permission", "by", "role", "group", "rule", "rule_id"],
  ...["ends_at", "limited_by", "last_used_at", "invited", "keys", "usage"]
]

/** The names of the columns. */
export const holderCsvHead = csvLine(columns)

const patternsOf = ({ env_pattern, project_pattern }: AccessHolder["because"]) =>
  project_pattern === undefined ? null : `${project_pattern}/${env_pattern ?? ""}`

/** One line for each holder, and one for each of its delegations. */
export const holderCsv = ({ env, holders, project }: PlaceHolders): string =>
  holders
    .map((holder) => {
      const { because, delegations = [], invited, kind, last_used_at = null, permission, usage = null } = holder
      const {
        by,
        expires_at = null,
        group = null,
        limited_by = null,
        role = null,
        rule_id = null,
        key_pattern = null
      } = because
      const who = holderName(holder)
      const reason = [by, role, group, patternsOf(because), rule_id]
      return [
        [
          project,
          env,
          kind,
          who,
          permission,
          ...reason,
          expires_at,
          limited_by,
          last_used_at,
          invited ? "yes" : null,
          key_pattern,
          usage
        ],
        ...delegations.map((one) => [
          ...[project, env, "delegation", `${one.name} of ${who}`, one.permission, ...reason],
          ...[one.expires_at, one.limited_by ?? null, one.last_used_at, null, one.keys?.join(" ") ?? key_pattern, null]
        ])
      ]
        .map(csvLine)
        .join("")
    })
    .join("")
