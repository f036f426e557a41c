import { Overloaded, UseBudget } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { useRefusals } from "./UseMetrics.js"

const { total: maxOfServer } = sharedBounds.uses
const { total: maxOfAccount } = sharedBounds.usesOfAccount
/** How long a request waits for a slot: each of those in flight takes 30 seconds at most. */
const patience = "4 seconds"

const ownFull = new UseBudget({
  message: `${maxOfAccount} of your requests are in flight: try again in 1 second`,
  retryAfter: 1
})

const allFull = Effect.zipRight(
  Metric.increment(useRefusals("concurrency")),
  new Overloaded({
    message: `all slots for requests with secrets are in use, ${maxOfServer} of the server and ${Math.floor(maxOfServer / 2)} of an organization, or fewer beside others: try again in 1 second`,
    retryAfter: 1
  })
)

/** Bounds the requests that are in flight at the same time. Slots go to the waiting organizations in turn. */
export const makeSlots = Effect.sync(() => {
  const slots = makeFairSemaphore(sharedBounds.uses)
  const taken = new Map<string, number>()

  /** Returns whether the account has not all of its slots. */
  const take = (account: string): Effect.Effect<boolean> =>
    Effect.sync(() => {
      const own = taken.get(account) ?? 0
      if (own >= maxOfAccount) return false
      taken.set(account, own + 1)
      return true
    })

  const giveBack = (account: string) =>
    Effect.sync(() => {
      const own = (taken.get(account) ?? 0) - 1
      if (own > 0) taken.set(account, own)
      else taken.delete(account)
    })

  /** Fails with Overloaded if the effect has not begun within `patience`. */
  const inSlot = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Overloaded, R> =>
    Effect.suspend(() => {
      let hasBegun = false
      const begun = Effect.suspend(() => {
        hasBegun = true
        return effect
      })
      const tooLate = Effect.delay(
        Effect.suspend(() => (hasBegun ? Effect.never : allFull)),
        patience
      )
      return Effect.raceFirst(slots.inside(begun), tooLate)
    })

  /** Runs an effect in a slot of an account, or else `refuse`. */
  return <A, E, R, E2, R2>(
    account: string,
    effect: Effect.Effect<A, E, R>,
    refuse: (full: UseBudget) => Effect.Effect<never, E2, R2>
  ): Effect.Effect<A, E | E2 | Overloaded, R | R2> =>
    Effect.acquireUseRelease(
      take(account),
      (isTaken): Effect.Effect<A, E | E2 | Overloaded, R | R2> => (isTaken ? inSlot(effect) : refuse(ownFull)),
      (isTaken) => (isTaken ? giveBack(account) : Effect.void)
    )
})
