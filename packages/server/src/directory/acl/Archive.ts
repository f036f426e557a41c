import { maxRuleDays } from "@coffer/domain/access/AclRule"
import type { ArchivedOrganization, ArchivedRule } from "@coffer/domain/archive/ArchivedOrganization"
import { allKeys } from "@coffer/domain/secrets/KeyPatterns"
import { type OrgId, RuleId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { timestamp } from "../../base/Time.js"
import { uuidsV7 } from "../../base/Uuid.js"
import { arrived, type Arriving, stamps } from "../archives/Arriving.js"
import { endProblem, firstOf, namesIn, type Problem, uniqueNames, unknownName } from "../archives/Checks.js"
import { phase } from "../archives/Phases.js"
import { groupsArchive } from "../groups/Archive.js"
import { membersArchive } from "../members/Archive.js"
import { accountsArchive } from "../service-accounts/Archive.js"
import { ruleLimits } from "./Acl.js"
import { aclRepo } from "./Repo.js"

type Subjects<Id> = Readonly<Record<ArchivedRule["subject_type"], ReadonlyMap<string, Id>>>

export const rulesProblem = ({ accounts, groups, members, rules }: ArchivedOrganization): Problem => {
  const known = {
    user: new Set<string>(members.map(({ email }) => email)),
    service_account: new Set(namesIn(accounts)),
    group: new Set(namesIn(groups))
  }
  const counts = new Map<string, number>()
  for (const { subject, subject_type } of rules) {
    const name = `${subject_type} ${subject}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const ofGroups = rules.filter(({ subject_type }) => subject_type === "group").length
  return firstOf([
    ...rules.map(({ subject, subject_type }) => unknownName("subject of a rule", known[subject_type], [subject])),
    ruleLimits.ofGroups.problem(ofGroups),
    ...[...counts].map(([name, count]) => ruleLimits.ofSubject.problem(count, name)),
    uniqueNames(
      "rule",
      rules.map(
        ({ env_pattern, project_pattern, subject, subject_type }) =>
          `of ${subject_type} ${subject} for ${project_pattern}/${env_pattern}`
      )
    )
  ])
}

export const ruleEndsProblem = ({ rules }: ArchivedOrganization, now: number): Problem =>
  firstOf(rules.map((rule) => endProblem(`a rule of ${rule.subject}`, rule, now, maxRuleDays)))

/** Access rules in archives, without those of requests. */
export const rulesArchive = Effect.gen(function* () {
  const repo = yield* aclRepo
  const members = yield* membersArchive
  const accounts = yield* accountsArchive
  const groups = yield* groupsArchive

  const read = (orgId: OrgId) =>
    Effect.map(repo.all(orgId), (rows) =>
      rows.flatMap((row) => {
        const { email, env_pattern, expires_at, group_name, name, permission, project_pattern, request_id } = row
        const subject = email ?? name ?? group_name
        if (request_id !== null || subject === null) return []
        const ends = expires_at === null ? {} : { expires_at: timestamp(expires_at) }
        return [{ subject_type: row.subject_type, subject, project_pattern, env_pattern, permission, ...ends }]
      })
    )

  const write = ({ id: org_id, importer: { email: created_by }, structure }: Arriving) =>
    phase(
      structure.rules,
      Effect.map(
        Effect.all({ user: members.ids(org_id), service_account: accounts.ids(org_id), group: groups.ids(org_id) }),
        (subjects: Subjects<string>) => (some) =>
          Effect.gen(function* () {
            const at = yield* stamps
            const made = Array.zip(some, yield* uuidsV7(some.length))
            const rows = yield* Effect.forEach(made, ([{ expires_at, subject, subject_type, ...rule }, id]) =>
              Effect.map(arrived(subjects[subject_type], subject), (subject_id) => ({
                ...{ id: RuleId.make(id), org_id, subject_type, subject_id, ...rule, created_by },
                ...{ key_pattern: allKeys, denies: 0 },
                expires_at: expires_at === undefined ? null : Date.parse(expires_at),
                ...at
              }))
            )
            yield* repo.insert(rows)
          })
      )
    )

  return { read, write } as const
})
