import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { type EnvId, type OrgId, type SecretId, UseRuleId } from "@coffer/domain/base/Ids"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidsV7 } from "../../base/Uuid.js"
import { query } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"
import { useRepo } from "./Repo.js"
import { termsOf } from "./Terms.js"
import { emailIn, useRuleLimits } from "./UseRules.js"

/** The ids of service accounts by their names; null for a name that is none, and so a person's. */
export type Accounts = ReadonlyMap<string, string | null>

/** A version of an archive, for the secret that it belongs to. */
interface Imported {
  readonly archived: ArchivedVersion
  readonly secretId: SecretId
}

/** How many people the notes name. */
const maxNamed = 20

const IdRow = Schema.Struct({ id: Schema.String })
const EmailRow = Schema.Struct({ email: Schema.String })
const PersonRow = Schema.Struct({ rule_id: Schema.String, position: Schema.Number })

/** Use rules in archives. The people of an imported one wait in `import_use_people` until they are members. */
export const useRulesArchive = Effect.gen(function* () {
  const repo = yield* useRepo
  const { all, first, insert, one, write: statement } = yield* query

  const accountOf = first(IdRow)`SELECT id FROM service_accounts WHERE org_id = ${"orgId"} AND name = ${"name"}`
  const count = one(CountRow)`
    SELECT count(*) AS count FROM secrets s JOIN use_rules r ON r.secret_id = s.id WHERE s.env_id = ${"envId"}`
  const insertPeople = insert("import_use_people", ["org_id", "rule_id", "position", "email"])
  const people = all(PersonRow)`
    SELECT rule_id, position FROM import_use_people
    WHERE org_id = ${"orgId"} ORDER BY rule_id, position LIMIT ${"limit"}`
  const unknown = all(EmailRow)`
    SELECT DISTINCT q.email AS email FROM import_use_people q
    WHERE q.org_id = ${"orgId"} AND NOT EXISTS (
      SELECT 1 FROM users u JOIN members m ON m.user_id = u.id AND m.removed_at IS NULL
      WHERE u.email = q.email AND m.org_id = q.org_id)
    ORDER BY email LIMIT ${"limit"}`
  const admitted = statement`
    INSERT INTO use_rule_accounts (rule_id, position, org_id, subject_id)
    SELECT q.rule_id, q.position, q.org_id, m.user_id FROM import_use_people q
    JOIN users u ON u.email = q.email
    JOIN members m ON m.user_id = u.id AND m.org_id = q.org_id AND m.removed_at IS NULL
    WHERE q.org_id = ${"orgId"} AND (q.rule_id, q.position) <= (${"rule"}, ${"position"})`
  const forgotten = statement`
    DELETE FROM import_use_people
    WHERE org_id = ${"orgId"} AND (rule_id, position) <= (${"rule"}, ${"position"})`

  /** The rules of an environment, by secret. */
  const read = Effect.fnUntraced(function* (envId: EnvId) {
    const rows = yield* repo.ofEnvironment({ envId })
    const found = yield* forEachInSlices(rows, (row) =>
      Effect.map(termsOf(row), (terms) => ({ id: row.secret_id, terms }))
    )
    const bySecret = Object.values(Array.groupBy(found, ({ id }) => id))
    const rules: ReadonlyMap<SecretId, ReadonlyArray<UseTerms>> = new Map(
      bySecret.map((some) => [some[0].id, some.map(({ terms }) => terms)])
    )
    return rules
  })

  /** Finds whom the rules of versions are for, outside of the transaction that writes them: accounts of a hidden organization stay. */
  const accountsOf = Effect.fnUntraced(function* (orgId: OrgId, data: ReadonlyArray<ArchivedVersion>) {
    const rules = data.flatMap(({ current }) => current?.use_rules ?? [])
    const names = [...new Set(rules.flatMap(({ accounts }) => accounts))]
    const found = yield* forEachInSlices(names, (name) =>
      Effect.map(accountOf({ orgId, name }), (account) => [name, account?.id ?? null] as const)
    )
    const accounts: Accounts = new Map(found)
    return accounts
  })

  const write = Effect.fnUntraced(function* (
    { by, envId, orgId: org_id }: { readonly by: string; readonly envId: EnvId; readonly orgId: OrgId },
    versions: ReadonlyArray<Imported>,
    accounts: Accounts
  ) {
    const rules = versions.flatMap(({ archived, secretId }) =>
      (archived.current?.use_rules ?? []).map((rule) => ({ secretId, rule }))
    )
    if (rules.length === 0) return
    const { ofEnvironment, ofSecret } = useRuleLimits
    const problems = [
      ...versions.map(({ archived: { current, key } }) => ofSecret.problem(current?.use_rules.length ?? 0, key)),
      ofEnvironment.problem((yield* count({ envId })).count + rules.length)
    ]
    const crowded = problems.find((problem) => problem !== null)
    if (crowded !== undefined) return yield* crowded
    const at = yield* now
    const ids = yield* uuidsV7(rules.length)
    const made = Array.zipWith(rules, ids, (each, id) => ({ ...each, id: UseRuleId.make(id) }))
    yield* repo.insert(
      made.map(({ id, rule: terms, secretId: secret_id }) => ({
        ...{ id, secret_id, terms: JSON.stringify(terms), per_minute: terms.per_minute, per_day: terms.per_day },
        ...{ minute_at: 0, minute_count: 0, day_at: 0, day_count: 0 },
        ...{ created_by: by, created_at: at, updated_at: at }
      }))
    )
    const subjects = made.flatMap(({ id: rule_id, rule }) =>
      [...new Set(rule.accounts)].map((name, position) => ({
        ...{ rule_id, position, org_id, name },
        id: accounts.get(name) ?? null
      }))
    )
    yield* repo.insertAccounts(
      subjects.flatMap(({ id, name: _name, ...subject }) => (id === null ? [] : [{ ...subject, subject_id: id }]))
    )
    yield* insertPeople(
      subjects.flatMap(({ id, name, ...subject }) => (id === null ? [{ ...subject, email: emailIn(name) }] : []))
    )
  })

  /** Notes on those whom rules name, and who are nobody here. Call it once the members are there. */
  const unknownPeople = (orgId: OrgId) =>
    Effect.map(unknown({ orgId, limit: maxNamed + 1 }), (found) =>
      found.map(({ email }, index) =>
        index < maxNamed
          ? `${email} in a use rule: the organization has no service account or member of the name`
          : "others in use rules whom the organization does not have"
      )
    )

  /** Makes rules be for the first people who wait, who are members now. Returns the last rule; null if nobody waits. */
  const admitPeople = Effect.fnUntraced(function* (orgId: OrgId, limit: number) {
    const last = (yield* people({ orgId, limit })).at(-1)
    if (last === undefined) return null
    yield* admitted({ orgId, rule: last.rule_id, position: last.position })
    yield* forgotten({ orgId, rule: last.rule_id, position: last.position })
    return last.rule_id
  })

  return { read, accountsOf, write, unknownPeople, admitPeople } as const
})
