import type { ArchivedVersion } from "@coffer/domain/archive/ArchivedSecret"
import { LimitExceeded } from "@coffer/domain/errors/Errors"
import { type OrgId, UseRuleId } from "@coffer/domain/base/Ids"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { maxOfEnvironment, maxOfSecret } from "../use-rules/UseRules.js"
import type { ImportedVersion } from "./ImportedVersions.js"
import { type ImportedPlace, importRepo, type ImportRow } from "./ImportRepo.js"

/** The ids of service accounts by their names; null for a name that is none, and so a person's. */
export type Accounts = ReadonlyMap<string, string | null>

/** Makes what reads and writes the use rules of imported secrets. People are named by them when they are members. */
export const makeImportedRules = Effect.gen(function* () {
  const repo = yield* importRepo

  /** Finds whom the rules of versions are for, outside of the transaction that writes them: accounts of a hidden organization stay. */
  const accountsOf = Effect.fnUntraced(function* (orgId: OrgId, data: ReadonlyArray<ArchivedVersion>) {
    const rules = data.flatMap(({ current }) => current?.use_rules ?? [])
    const names = [...new Set(rules.flatMap(({ accounts }) => accounts))]
    const found = yield* forEachInSlices(names, (name) =>
      Effect.map(repo.account({ orgId, name }), (account) => [name, account?.id ?? null] as const)
    )
    const accounts: Accounts = new Map(found)
    return accounts
  })

  const write = Effect.fnUntraced(function* (
    { org_id }: ImportRow,
    { env_id: envId }: ImportedPlace,
    versions: ReadonlyArray<ImportedVersion>,
    accounts: Accounts,
    by: string
  ) {
    const rules = versions.flatMap(({ archived, secretId }) =>
      (archived.current?.use_rules ?? []).map((rule) => ({ secretId, rule }))
    )
    if (rules.length === 0) return
    if (versions.some(({ archived }) => (archived.current?.use_rules.length ?? 0) > maxOfSecret)) {
      return yield* new LimitExceeded({ message: `a secret has at most ${maxOfSecret} use rules` })
    }
    if ((yield* repo.useRules({ envId })).count + rules.length > maxOfEnvironment) {
      return yield* new LimitExceeded({ message: `an environment has at most ${maxOfEnvironment} use rules` })
    }
    const at = yield* now
    // Rules are listed by their ids, and the ids of one millisecond are in any order.
    const ids = (yield* Effect.forEach(rules, () => uuidV7)).toSorted()
    const made = Array.zipWith(rules, ids, (each, id) => ({ ...each, id: UseRuleId.make(id) }))
    yield* repo.insertUseRules(
      made.map(({ id, rule: terms, secretId: secret_id }) => ({
        ...{ id, secret_id, terms: JSON.stringify(terms) },
        ...{ per_minute: terms.per_minute, per_day: terms.per_day },
        ...{ minute_at: 0, minute_count: 0, day_at: 0, day_count: 0 },
        ...{ created_by: by, created_at: at, updated_at: at }
      }))
    )
    const subjects = made.flatMap(({ id: rule_id, rule }) =>
      rule.accounts.map((name, position) => ({ rule_id, position, org_id, name, id: accounts.get(name) ?? null }))
    )
    yield* repo.insertUseAccounts(
      subjects.flatMap(({ id, name: _name, ...subject }) => (id === null ? [] : [{ ...subject, subject_id: id }]))
    )
    yield* repo.insertUsePeople(
      subjects.flatMap(({ id, name, ...subject }) => (id === null ? [{ ...subject, email: name }] : []))
    )
  })

  return { accountsOf, write } as const
})
