import { actorName } from "@coffer/domain/access/Actor"
import { ValidationError } from "@coffer/domain/errors/Errors"
import { type SecretId, UseRuleId } from "@coffer/domain/base/Ids"
import { Email, type SecretKey } from "@coffer/domain/base/Names"
import { defaultTerms, type UseRule, type UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { recordAffected } from "../../access/Affected.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { secretsRepo } from "../stored/Repo.js"
import { secretNotFound } from "../stored/NotThere.js"
import { method } from "../../base/tracing/Traced.js"
import { type StoredRule, type SubjectRow, useRepo } from "./Repo.js"
import { termsOf } from "./Terms.js"

const decodeEmail = Schema.decodeOption(Email)

/** The address of a person whom a rule names; the text as it is if it is none. */
export const emailIn = (name: string): string => Option.getOrElse(decodeEmail(name), () => name)

export const useRuleLimits = {
  ofSecret: recordLimit(20, (max) => `a secret has at most ${max} use rules`),
  ofEnvironment: recordLimit(500, (max) => `an environment has at most ${max} use rules`)
}

type RulePlace = Place<"use_rule.list" | "use_rule.create" | "use_rule.update" | "use_rule.delete">

export type NewTerms = Pick<UseTerms, "hosts" | "paths" | "place" | "accounts"> & Partial<UseTerms>

const ruleOf = (key: SecretKey, { created_at, created_by, id, updated_at }: StoredRule, terms: UseTerms): UseRule => ({
  id,
  key,
  ...terms,
  created_by,
  created_at,
  updated_at
})

/** With the end of the rule as the database writes times, so that it compares as text. */
const withEnd = (terms: UseTerms, millis: number): Effect.Effect<UseTerms, ValidationError> => {
  if (terms.expires_at === null) return Effect.succeed(terms)
  const end = Date.parse(terms.expires_at)
  return end > millis
    ? Effect.succeed({ ...terms, expires_at: timestamp(end) })
    : new ValidationError({ message: "expires_at: is in the past" })
}

/** The rules of what a secret is used for without being shown. They belong to the secret's id. */
export class UseRules extends Effect.Service<UseRules>()("@coffer/server/UseRules", {
  effect: Effect.gen(function* () {
    const repo = yield* useRepo
    const secrets = yield* secretsRepo
    const audit = yield* AuditLog

    const secretOf = (place: RulePlace, key: SecretKey) =>
      Effect.flatMap(secrets.findLive({ envId: place.env.id, key }), (row) =>
        row === undefined ? secretNotFound(key) : Effect.succeed(row)
      )

    const findRule = Effect.fnUntraced(function* (secretId: SecretId, id: UseRuleId) {
      const row = (yield* repo.ofSecret({ secretId })).find((rule) => rule.id === id)
      return row ?? (yield* notFound(`use rule ${id}`))
    })

    /** The accounts and people of these names, each once. Fails with ValidationError, which names those that nobody has. */
    const subjectsOf = Effect.fnUntraced(function* (place: RulePlace, names: ReadonlyArray<string>) {
      const found = new Map<string, SubjectRow>()
      const unknown: Array<string> = []
      for (const name of names) {
        const subject = yield* repo.subject({ orgId: place.org.id, name, email: emailIn(name) })
        if (subject === undefined) unknown.push(name)
        else found.set(subject.id, subject)
      }
      if (unknown.length === 0) return [...found.values()]
      return yield* new ValidationError({
        message: `accounts: the organization has no service account or member ${unknown.join(", ")}`
      })
    })

    const record = (
      place: RulePlace,
      action: "use_rule.create" | "use_rule.update" | "use_rule.delete",
      { created_at: _made, created_by: _by, updated_at: _changed, ...rule }: UseRule,
      before?: UseTerms
    ) =>
      audit.change(sourceOf(place), {
        action,
        resource_type: "use_rule",
        resource_id: rule.id,
        metadata: { key: rule.key, rule, ...(before !== undefined && { before }) }
      })

    const list = method("UseRules.list", function* (place: Place<"use_rule.list">, key: SecretKey) {
      const { id } = yield* secretOf(place, key)
      const rows = yield* repo.ofSecret({ secretId: id })
      return yield* Effect.forEach(rows, (row) => Effect.map(termsOf(row), (terms) => ruleOf(key, row, terms)))
    })

    const create = method(
      "UseRules.create",
      function* (place: Place<"use_rule.create">, key: SecretKey, request: NewTerms) {
        const millis = yield* Clock.currentTimeMillis
        const wanted = yield* withEnd({ ...defaultTerms, ...request }, millis)
        const { id: secretId, version } = yield* secretOf(place, key)
        recordAffected(place, [{ key, change: "use_rule", id: secretId, version }])
        const subjects = yield* subjectsOf(place, request.accounts)
        const terms: UseTerms = { ...wanted, accounts: subjects.map(({ name }) => name) }
        const { of_env, of_secret } = yield* repo.counts({ envId: place.env.id, secretId })
        yield* useRuleLimits.ofSecret.room({ count: of_secret })
        yield* useRuleLimits.ofEnvironment.room({ count: of_env })
        const at = timestamp(millis)
        const id = UseRuleId.make(yield* uuidV7)
        const made: UseRule = {
          id,
          key,
          ...terms,
          created_by: actorName(place.actor),
          created_at: at,
          updated_at: at
        }
        const { created_by, created_at, updated_at } = made
        yield* repo.insert([
          {
            ...{ id, secret_id: secretId, terms: JSON.stringify(terms) },
            ...{ per_minute: terms.per_minute, per_day: terms.per_day },
            ...{ minute_at: 0, minute_count: 0, day_at: 0, day_count: 0, created_by, created_at, updated_at }
          }
        ])
        yield* repo.setAccounts(id, place.org.id, subjects)
        yield* record(place, "use_rule.create", made)
        return made
      }
    )

    const update = method(
      "UseRules.update",
      function* (place: Place<"use_rule.update">, key: SecretKey, id: UseRuleId, request: Partial<UseTerms>) {
        const millis = yield* Clock.currentTimeMillis
        const secret = yield* secretOf(place, key)
        const row = yield* findRule(secret.id, id)
        recordAffected(place, [
          { key, change: "use_rule", id: secret.id, version: secret.version, from: row.updated_at }
        ])
        const before = yield* termsOf(row)
        const subjects = request.accounts === undefined ? null : yield* subjectsOf(place, request.accounts)
        const accounts = subjects?.map(({ name }) => name) ?? before.accounts
        const wanted = { ...before, ...request, accounts }
        const terms = request.expires_at === undefined ? wanted : yield* withEnd(wanted, millis)
        const at = timestamp(millis)
        yield* repo.update({
          id,
          terms: JSON.stringify(terms),
          perMinute: terms.per_minute,
          perDay: terms.per_day,
          now: at
        })
        if (subjects !== null) yield* repo.setAccounts(id, place.org.id, subjects)
        const changed = ruleOf(key, { ...row, updated_at: at }, terms)
        yield* record(place, "use_rule.update", changed, before)
        return changed
      }
    )

    const remove = method(
      "UseRules.remove",
      function* (place: Place<"use_rule.delete">, key: SecretKey, id: UseRuleId) {
        const removed_at = yield* now
        const secret = yield* secretOf(place, key)
        const row = yield* findRule(secret.id, id)
        recordAffected(place, [
          { key, change: "use_rule", id: secret.id, version: secret.version, from: row.updated_at }
        ])
        yield* repo.remove({ id, now: removed_at })
        yield* record(place, "use_rule.delete", ruleOf(key, row, yield* termsOf(row)))
      }
    )

    return { list, create, update, remove } as const
  })
}) {}
