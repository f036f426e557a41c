import { createHash } from "node:crypto"
import * as Effect from "effect/Effect"
import { type FairSemaphore, makeFairSemaphore } from "../../base/FairSemaphore.js"
import { makeShare, type Share } from "../../base/Share.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { tenantOf } from "../../base/Tenant.js"
import { rankOf, type Scope, scopeKey } from "../Scopes.js"
import { DatabaseBusy } from "../Unavailable.js"

/** The first 24 bits of the first key of each lock: the bytes of "cof". Other programs may lock in the same database. */
const namespace = 0x636f66 << 8

/** Two scopes with the same key wait for each other needlessly, and no more. */
const lockOf = (scope: Scope): string =>
  `SELECT pg_advisory_xact_lock(${namespace | rankOf(scope)}, ${createHash("sha256").update(scope.id).digest().readInt32BE()})`

/** The statements that lock scopes until the end of the transaction, each preceded by a semicolon. */
export const lockStatements = (scopes: ReadonlyArray<Scope>): string =>
  scopes.map((scope) => `; ${lockOf(scope)}`).join("")

/** A change that waited longer is not begun: its caller must have a response within five seconds. */
const maxWaitMillis = 4_000

interface Line {
  readonly turn: FairSemaphore
  /** The changes that wait, and the one that runs. */
  readonly share: Share
  size: number
}

/**
 * One line of changes for each scope, with the tenants in turn. A change waits in its lines before it takes a connection, so
 * that the changes of one scope cannot use up the pool. Dies with DatabaseBusy if too many wait, or one waited too long.
 */
export const makeScopeLines = () => {
  const lines = new Map<string, Line>()

  const inLine = <A, E, R>(scope: Scope, inner: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => {
      const key = scopeKey(scope)
      const tenant = tenantOf(fiber)
      const line = lines.get(key) ?? {
        turn: makeFairSemaphore(sharedBounds.scopeTurn),
        share: makeShare(sharedBounds.scopeLine),
        size: 0
      }
      if (!line.share.take(tenant, 1)) return Effect.die(new DatabaseBusy())
      lines.set(key, line)
      line.size++
      return Effect.ensuring(
        line.turn.inside(inner),
        Effect.sync(() => {
          line.share.giveBack(tenant, 1)
          if (--line.size === 0) lines.delete(key)
        })
      )
    })

  return <A, E, R>(scopes: ReadonlyArray<Scope>, change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (scopes.length === 0) return change
      const start = performance.now()
      const inTime = Effect.suspend(() =>
        performance.now() - start > maxWaitMillis ? Effect.die(new DatabaseBusy()) : change
      )
      return scopes.reduceRight((inner, scope) => inLine(scope, inner), inTime)
    })
}
