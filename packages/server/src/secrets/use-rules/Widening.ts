import { mayReveal } from "@coffer/domain/access/Actor"
import { UseWidens } from "@coffer/domain/errors/Errors"
import type { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import { covers } from "@coffer/domain/secrets/UseRule"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { timestamp } from "../../base/Time.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { useRepo } from "./Repo.js"
import { isLive, termsOf } from "./Terms.js"

/** A value moved to another secret, or restored from an earlier version. */
export interface Move {
  readonly key: SecretKey
  readonly from: { readonly id: SecretId; readonly version: number }
  readonly to: SecretId
}

/** Refuses that accounts which may not read a value move it under wider use rules. */
export class Widening extends Effect.Service<Widening>()("@coffer/server/Widening", {
  effect: Effect.gen(function* () {
    const repo = yield* useRepo

    const rulesOf = Effect.fnUntraced(function* (secretId: SecretId, now: string) {
      const rows = yield* repo.ofSecret({ secretId })
      const rules = yield* Effect.forEach(rows, (row) =>
        Effect.map(termsOf(row), (terms) => ({ terms, updated_at: row.updated_at }))
      )
      return rules.filter(({ terms }) => isLive(terms, now))
    })

    /** Whether a rule was made or changed after the value had been replaced, so that nobody meant it for that value. */
    const isNewer = Effect.fnUntraced(function* (
      { from, to }: Move,
      rules: ReadonlyArray<{ readonly updated_at: string }>
    ) {
      if (from.id !== to) return false
      const next = yield* repo.versionTime({ secretId: from.id, version: from.version + 1 })
      return next !== undefined && rules.some(({ updated_at }) => updated_at > next.created_at)
    })

    const checkOne = Effect.fnUntraced(function* (move: Move, now: string) {
      const there = yield* rulesOf(move.to, now)
      if (there.length === 0) return
      const here = move.from.id === move.to ? there : yield* rulesOf(move.from.id, now)
      const isCovered = there.every(({ terms }) => here.some((rule) => covers(rule.terms, terms)))
      if (isCovered && !(yield* isNewer(move, there))) return
      return yield* new UseWidens({
        message: `secret ${move.key} has wider use rules than the value's own: ask somebody who may read the value`
      })
    })

    /** Whether a secret has use rules, without which nothing that arrives there is used. */
    const isRuled = (secretId: SecretId): Effect.Effect<boolean> =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) =>
        Effect.map(rulesOf(secretId, timestamp(millis)), (rules) => rules.length > 0)
      )

    /** Call it in the transaction of every change that moves values without showing them (`ValueFlow`). */
    const check = ({ actor }: Place<"secret.write">, moves: ReadonlyArray<Move>): Effect.Effect<void, UseWidens> =>
      mayReveal(actor)
        ? Effect.void
        : Effect.flatMap(Clock.currentTimeMillis, (millis) =>
            Effect.asVoid(forEachInSlices(moves, (move) => checkOne(move, timestamp(millis))))
          )

    return { check, isRuled } as const
  })
}) {}
