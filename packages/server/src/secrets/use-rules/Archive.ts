import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { type EnvId, type OrgId, type SecretId, UseRuleId } from "@coffer/domain/base/Ids"
import { LimitExceeded } from "@coffer/domain/errors/Errors"
import type { UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { query } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"
import { useRepo } from "./Repo.js"
import { termsOf } from "./Terms.js"
import { maxOfEnvironment, maxOfSecret } from "./UseRules.js"

/** The ids of service accounts by their names; null for a name that is none, and so a person's. */
export type Accounts = ReadonlyMap<string, string | null>

/** A version of an archive, for the secret that it belongs to. */
interface Imported {
  readonly archived: ArchivedVersion
  readonly secretId: SecretId
}

const IdRow = Schema.Struct({ id: Schema.String })
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
    if (versions.some(({ archived }) => (archived.current?.use_rules.length ?? 0) > maxOfSecret)) {
      return yield* new LimitExceeded({ message: `a secret has at most ${maxOfSecret} use rules` })
    }
    if ((yield* count({ envId })).count + rules.length > maxOfEnvironment) {
      return yield* new LimitExceeded({ message: `an environment has at most ${maxOfEnvironment} use rules` })
    }
    const at = yield* now
    // Rules are listed by their ids, and the ids of one millisecond are in any order.
    const ids = (yield* Effect.forEach(rules, () => uuidV7)).toSorted()
    const made = Array.zipWith(rules, ids, (each, id) => ({ ...each, id: UseRuleId.make(id) }))
    yield* repo.insert(
      made.map(({ id, rule: terms, secretId: secret_id }) => ({
        ...{ id, secret_id, terms: JSON.stringify(terms), per_minute: terms.per_minute, per_day: terms.per_day },
        ...{ minute_at: 0, minute_count: 0, day_at: 0, day_count: 0 },
        ...{ created_by: by, created_at: at, updated_at: at }
      }))
    )
    const subjects = made.flatMap(({ id: rule_id, rule }) =>
      rule.accounts.map((name, position) => ({ rule_id, position, org_id, name, id: accounts.get(name) ?? null }))
    )
    yield* repo.insertAccounts(
      subjects.flatMap(({ id, name: _name, ...subject }) => (id === null ? [] : [{ ...subject, subject_id: id }]))
    )
    yield* insertPeople(
      subjects.flatMap(({ id, name, ...subject }) => (id === null ? [{ ...subject, email: name }] : []))
    )
  })

  /** Makes rules be for the first people who wait, who are members now. Returns the last rule; null if nobody waits. */
  const admitPeople = Effect.fnUntraced(function* (orgId: OrgId, limit: number) {
    const last = (yield* people({ orgId, limit })).at(-1)
    if (last === undefined) return null
    yield* admitted({ orgId, rule: last.rule_id, position: last.position })
    yield* forgotten({ orgId, rule: last.rule_id, position: last.position })
    return last.rule_id
  })

  return { read, accountsOf, write, admitPeople } as const
})
