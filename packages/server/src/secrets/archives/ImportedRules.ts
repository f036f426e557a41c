import type { ArchivedUseRule } from "@coffer/domain/archive/ArchivedSecret"
import { LimitExceeded } from "@coffer/domain/Errors"
import { type SecretId, UseRuleId } from "@coffer/domain/Ids"
import * as Effect from "effect/Effect"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { maxOfEnvironment, maxOfSecret } from "../use-rules/UseRules.js"
import type { Draft } from "./Drafts.js"
import { type ImportedPlace, importRepo, type ImportRow } from "./ImportRepo.js"

/** Makes the function that writes the use rules of imported secrets. People are named by them when they are members. */
export const makeImportedRules = Effect.gen(function* () {
  const repo = yield* importRepo

  const writeRule = Effect.fnUntraced(function* (
    { org_id }: ImportRow,
    secretId: SecretId,
    { accounts, ...terms }: ArchivedUseRule,
    written: { readonly created_by: string; readonly created_at: string; readonly updated_at: string }
  ) {
    const rule_id = UseRuleId.make(yield* uuidV7)
    yield* repo.insertUseRules([
      {
        id: rule_id,
        secret_id: secretId,
        terms: JSON.stringify({ ...terms, accounts }),
        per_minute: terms.per_minute,
        per_day: terms.per_day,
        minute_at: 0,
        minute_count: 0,
        day_at: 0,
        day_count: 0,
        ...written
      }
    ])
    for (const [position, name] of accounts.entries()) {
      const account = yield* repo.account({ orgId: org_id, name })
      yield* account === undefined
        ? repo.insertUsePeople([{ org_id, rule_id, position, email: name }])
        : repo.insertUseAccounts([{ rule_id, position, org_id, subject_id: account.id }])
    }
  })

  return Effect.fnUntraced(function* (
    row: ImportRow,
    { env_id: envId }: ImportedPlace,
    drafts: ReadonlyArray<Draft>,
    by: string
  ) {
    const rules = drafts.map(({ archived, secretId }) => ({ secretId, rules: archived.current?.use_rules ?? [] }))
    const count = rules.reduce((sum, { rules: some }) => sum + some.length, 0)
    if (count === 0) return
    if (rules.some(({ rules: some }) => some.length > maxOfSecret)) {
      return yield* new LimitExceeded({ message: `a secret has at most ${maxOfSecret} use rules` })
    }
    if ((yield* repo.useRules({ envId })).count + count > maxOfEnvironment) {
      return yield* new LimitExceeded({ message: `an environment has at most ${maxOfEnvironment} use rules` })
    }
    const at = yield* now
    const written = { created_by: by, created_at: at, updated_at: at }
    for (const { rules: some, secretId } of rules) {
      yield* Effect.forEach(some, (rule) => writeRule(row, secretId, rule, written), { discard: true })
    }
  })
})
