import { Overloaded } from "@coffer/domain/errors/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type FairSemaphore, makeFairSemaphore } from "../../base/FairSemaphore.js"
import { makeShare, type Share } from "../../base/Share.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { tenantOf } from "../../base/Tenant.js"

/** How long a refusal is repeated from memory. */
const rememberedMillis = 1_000
const maxRemembered = 10_000

const overloaded = new Overloaded({ message: "too many requests at once: try again in 1 second", retryAfter: 1 })

/** The refusals of the last second: a subject that is over its limit is refused without a lock or a connection. */
export const makeRefusals = () => {
  const known = new Map<string, { readonly seconds: number; readonly until: number }>()
  return {
    remember: (subject: string, seconds: number, millis: number): void => {
      known.delete(subject)
      known.set(subject, { seconds, until: millis + rememberedMillis })
      const [oldest] = known.keys()
      if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest)
    },
    /** The seconds to wait by the last refusal; 0 if there was none within a second. */
    secondsOf: (subject: string): Effect.Effect<number> =>
      Effect.map(Clock.currentTimeMillis, (millis) => {
        const refusal = known.get(subject)
        if (refusal === undefined) return 0
        if (millis < refusal.until && millis >= refusal.until - rememberedMillis) return refusal.seconds
        known.delete(subject)
        return 0
      })
  } as const
}

/**
 * Runs the attempts of each subject one at a time. They wait in this process, before they take a connection: otherwise one
 * stranger's requests would wait for the lock of a limit with all connections of the pool in hand.
 */
export const makeTurns = () => {
  const queues = new Map<string, { readonly turn: FairSemaphore; readonly share: Share; users: number }>()

  const join = (subject: string) =>
    Effect.withFiberRuntime<{ readonly turn: FairSemaphore; readonly leave: Effect.Effect<void> }>((fiber) => {
      const tenant = tenantOf(fiber)
      const queue = queues.get(subject) ?? {
        turn: makeFairSemaphore(sharedBounds.attemptTurn),
        share: makeShare(sharedBounds.attempts),
        users: 0
      }
      if (!queue.share.take(tenant, 1)) return Effect.die(overloaded)
      queues.set(subject, queue)
      queue.users++
      const leave = Effect.sync(() => {
        queue.share.giveBack(tenant, 1)
        if (--queue.users === 0) queues.delete(subject)
      })
      return Effect.succeed({ turn: queue.turn, leave })
    })

  /** Dies with Overloaded if too many attempts of the subject wait: the boundary responds with it. */
  return (subject: string) =>
    <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        join(subject),
        ({ turn }) => turn.inside(attempt),
        ({ leave }) => leave
      )
}
