import { maxRuleDays } from "@coffer/domain/access/AclRule"
import type { ArchivedOrganization, ArchivedRule } from "@coffer/domain/archive/ArchivedOrganization"
import { allKeys, fitsAllKeys } from "@coffer/domain/secrets/KeyPatterns"
import { ValidationError } from "@coffer/domain/errors/Errors"
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
import { aclRepo, keysOfRule } from "./Repo.js"

type Subjects<Id> = Readonly<Record<ArchivedRule["subject_type"], ReadonlyMap<string, Id>>>

/** A rule for some keys gives no `admin`: that is about the environment. */
const keysProblem = ({ denies, key_pattern = allKeys, permission, subject }: ArchivedRule): Problem =>
  permission === "admin" && denies !== true && !fitsAllKeys(key_pattern)
    ? new ValidationError({ message: `a rule of ${subject}: admin is for all keys of an environment` })
    : null

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
        ({ denies = false, env_pattern, key_pattern = allKeys, project_pattern, subject, subject_type }) =>
          `of ${subject_type} ${subject} for ${project_pattern}/${env_pattern}${key_pattern === allKeys ? "" : ` ${key_pattern}`}${denies ? ", which denies" : ""}`
      )
    ),
    ...rules.map(keysProblem)
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
        const rule = { project_pattern, env_pattern, permission, ...keysOfRule(row), ...ends }
        return [{ subject_type: row.subject_type, subject, ...rule }]
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
            const rows = yield* Effect.forEach(made, ([{ denies, expires_at, subject, subject_type, ...rule }, id]) =>
              Effect.map(arrived(subjects[subject_type], subject), (subject_id) => ({
                key_pattern: allKeys,
                ...{ id: RuleId.make(id), org_id, subject_type, subject_id, ...rule, created_by },
                denies: denies === true ? 1 : 0,
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
