import { actorName } from "@coffer/domain/access/Actor"
import { type ApprovalNeeded, type LimitExceeded, UseBudget, UseRefused } from "@coffer/domain/errors/Errors"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Use, UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Place, sourceOf } from "../../access/Access.js"
import { admitKeys, withinKeys } from "../../access/AllowedKeys.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { secretsRepo } from "../stored/Repo.js"
import { kindOf } from "../../keys/Envelope.js"
import { passedEntries, ReferenceReader } from "../references/ReferenceReader.js"
import { sizeOf, Versions } from "../stored/Versions.js"
import { method } from "../../base/tracing/Traced.js"
import { type AskedRequest, Approvals } from "./Approvals.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { match, type Target } from "../use-rules/Match.js"
import { type StoredRule, useRepo } from "../use-rules/Repo.js"
import { isLive, termsOf } from "../use-rules/Terms.js"

/** Shorter values would shred responses, because the scrub replaces them wherever they occur. */
const minBytes = 8
const maxBytes = 8_192

/**
 * The limits on a value's parts: they are looked for in the response too. The search takes about 1 KiB of memory for each
 * byte.
 */
const maxParts = 64
const maxPartBytes = 32 * 1024
const maxBytesTogether = maxPartBytes + maxBytes

const minuteMillis = 60_000
const dayMillis = 24 * 60 * minuteMillis

export interface WantedUse extends AskedRequest {
  readonly target: Target
  readonly secrets: Array.NonEmptyReadonlyArray<SecretKey>
}

export type UseDecision =
  | { readonly granted: Array.NonEmptyReadonlyArray<PermittedSecret> }
  /** Refused, after something was committed. */
  | { readonly refusal: ApprovalNeeded | LimitExceeded | UseRefused }

const counted = (at: number, count: number, current: number): number => (at >= current ? count : 0)

const leftOf = ({ day_at, day_count, minute_at, minute_count }: StoredRule, terms: UseTerms, millis: number) => ({
  left_this_minute: Math.max(0, terms.per_minute - counted(minute_at, minute_count, Math.floor(millis / minuteMillis))),
  left_today: Math.max(0, terms.per_day - counted(day_at, day_count, Math.floor(millis / dayMillis)))
})

const spent = (key: SecretKey, row: StoredRule, terms: UseTerms, millis: number): UseBudget => {
  const isDay = leftOf(row, terms, millis).left_today === 0
  const window = isDay ? dayMillis : minuteMillis
  const retryAfter = Math.max(1, Math.ceil((window - (millis % window)) / 1000))
  const budget = isDay ? `${terms.per_day} requests a day` : `${terms.per_minute} requests a minute`
  return new UseBudget({
    message: `the rule of ${key} allows ${budget}: try again in ${retryAfter} seconds`,
    retryAfter
  })
}

const hint = "GET .../uses (coffer use list, secret_uses) shows what you may use"

/** Decides which requests may be made with which secrets, and counts them. */
export class UsePermits extends Effect.Service<UsePermits>()("@coffer/server/UsePermits", {
  effect: Effect.gen(function* () {
    const repo = yield* useRepo
    const secrets = yield* secretsRepo
    const versions = yield* Versions
    const approvals = yield* Approvals
    const audit = yield* AuditLog
    const referenceReader = yield* ReferenceReader

    const grantOf = Effect.fnUntraced(function* (
      place: Place<"secret.use">,
      key: SecretKey,
      target: Target,
      now: string
    ) {
      const account = actorName(place.actor)
      const row = yield* secrets.findCurrent({ envId: place.env.id, key })
      const rows = row === undefined ? [] : yield* repo.ofSecret({ secretId: row.id })
      const rules = yield* Effect.forEach(rows, (rule) => Effect.map(termsOf(rule), (terms) => ({ rule, terms })))
      const matched = match(
        rules.filter(({ terms }) => isLive(terms, now)),
        account,
        target
      )
      if (row === undefined || Either.isLeft(matched)) {
        const part = Either.isLeft(matched) ? matched.left : `account ${account}`
        return yield* new UseRefused({ message: `${part} is in no rule of ${key}: ${hint}` })
      }
      const text = yield* versions.open(place, { id: row.id, key, version: row.version }, row)
      const { passed, value } =
        kindOf(row) === "text"
          ? { value: text, passed: [] }
          : yield* Effect.catchTag(
              referenceReader.valueOf(yield* referenceReader.load(place, [row]), { key, text }),
              "ReferenceRefused",
              ({ message }) => new UseRefused({ message })
            )
      const size = sizeOf(value)
      if (size < minBytes || size > maxBytes) {
        const wrong = `the value of ${key} cannot be used by rules, which take values of ${minBytes} to ${maxBytes} bytes`
        return yield* new UseRefused({ message: wrong })
      }
      const parts = passed.map((part) => part.value).filter((part) => sizeOf(part) >= minBytes)
      if (parts.length > maxParts || parts.reduce((sum, part) => sum + sizeOf(part), 0) > maxPartBytes) {
        const wrong = `the value of ${key} cannot be used by rules: it is made of more than ${maxParts} secrets, or of more than ${maxPartBytes / 1024} KiB of them`
        return yield* new UseRefused({ message: wrong })
      }
      const granted: PermittedSecret = {
        key,
        secretId: row.id,
        version: row.version,
        value,
        passed,
        parts,
        ...matched.right
      }
      return granted
    })

    const count = Effect.fnUntraced(function* ({ key, rule, terms }: PermittedSecret, millis: number) {
      const [claimed] = yield* repo.claim({
        id: rule.id,
        updatedAt: rule.updated_at,
        minute: Math.floor(millis / minuteMillis),
        day: Math.floor(millis / dayMillis)
      })
      if (claimed !== undefined) return
      const row = yield* repo.find({ id: rule.id })
      if (row !== undefined && row.updated_at === rule.updated_at) return yield* spent(key, row, terms, millis)
      return yield* new UseRefused({ message: `the use rules of ${key} have just changed: try again` })
    })

    const wrongTogether = (granted: ReadonlyArray<PermittedSecret>): string | null => {
      const last = granted.filter(({ terms: { place } }) => place.in === "aws-sigv4")
      if (last.length > 1) return "a request is signed by one secret at most"
      const sizes = granted.flatMap(({ parts, value }) => [value, ...parts]).map(sizeOf)
      return sizes.reduce((sum, size) => sum + size, 0) > maxBytesTogether
        ? `the secrets of a request and what they are made of have at most ${maxBytesTogether / 1024} KiB together`
        : null
    }

    /**
     * Grants a request: finds the rule of each secret, and an approval if one is needed, counts the use, and writes the audit
     * entry without which the request must not leave. Call it in the transaction that enters the place.
     */
    const permit = method("UsePermits.permit", function* (place: Place<"secret.use">, wanted: WantedUse) {
      const millis = yield* Clock.currentTimeMillis
      const { target } = wanted
      const keys = Array.dedupe(wanted.secrets)
      yield* admitKeys(audit, place, keys)
      const granted = yield* Effect.forEach(keys, (key) => grantOf(place, key, target, timestamp(millis)))
      const wrong = wrongTogether(granted)
      if (wrong !== null) return yield* new UseRefused({ message: wrong })
      if (granted.some(({ terms }) => terms.approval === "each")) {
        const refusal = yield* approvals.spend(place, wanted, granted)
        if (refusal !== null) return { refusal } satisfies UseDecision
      }
      // In the order of the rules' ids, so that two requests with the same rules do not wait for each other.
      const inOrder = [...granted].sort((one, other) => (one.rule.id < other.rule.id ? -1 : 1))
      yield* Effect.forEach(inOrder, (one) => count(one, millis), { discard: true })
      yield* audit.change(
        sourceOf(place),
        ...granted.map(({ key, rule, secretId, version }) => ({
          action: "secret.use" as const,
          resource_type: "secret" as const,
          resource_id: secretId,
          metadata: { key, version, rule: rule.id, ...target, request_bytes: wanted.body?.length ?? 0 }
        }))
      )
      for (const { event, source } of granted.flatMap(({ passed }) =>
        passedEntries(place, "secret.use", passed, keys)
      )) {
        yield* audit.change(source, event)
      }
      return { granted } satisfies UseDecision
    })

    /** Returns the secrets that the caller may use in an environment, with the rest of the budgets. */
    const uses = method("UsePermits.uses", function* (place: Place<"secret.uses">) {
      const millis = yield* Clock.currentTimeMillis
      const account = actorName(place.actor)
      const rows = withinKeys(place, yield* repo.ofEnvironment({ envId: place.env.id }))
      const rules = yield* Effect.forEach(rows, (row) => Effect.map(termsOf(row), (terms) => ({ row, terms })))
      return rules
        .filter(({ terms }) => terms.accounts.includes(account) && isLive(terms, timestamp(millis)))
        .map(({ row, terms }): Use => {
          const { approval, expires_at, hosts, max_kib, methods, paths, place, response } = terms
          const left = leftOf(row, terms, millis)
          return { key: row.key, hosts, methods, paths, response, max_kib, approval, ...left, expires_at, place }
        })
    })

    return { permit, uses } as const
  }),
  dependencies: [Versions.Default, Approvals.Default, ReferenceReader.Default]
}) {}
