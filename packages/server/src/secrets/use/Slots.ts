import { Overloaded, UseBudget } from "@coffer/domain/Errors"
import { Effect, Metric } from "effect"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { useRefusals } from "./UseMetrics.js"

const maxOfServer = 16
const maxOfOrganization = 8
const maxOfAccount = 4
/** How long a request waits for a slot: each of those in flight takes 30 seconds at most. */
const patience = "4 seconds"

const countRefusal = Metric.increment(useRefusals("concurrency"))

const ownFull = Effect.zipRight(
  countRefusal,
  new UseBudget({ message: `${maxOfAccount} of your requests are in flight: try again in 1 second`, retryAfter: 1 })
)

const allFull = Effect.zipRight(
  countRefusal,
  new Overloaded({
    message: `all slots for requests with secrets are in use, ${maxOfServer} of the server and ${maxOfOrganization} of an organization: try again in 1 second`,
    retryAfter: 1
  })
)

/** Bounds the requests that are in flight at the same time. Slots go to the waiting organizations in turn. */
export const makeSlots = Effect.sync(() => {
  const slots = makeFairSemaphore({ permits: maxOfServer, each: maxOfOrganization })
  const taken = new Map<string, number>()

  const take = (account: string): Effect.Effect<void, UseBudget> =>
    Effect.suspend(() => {
      const own = taken.get(account) ?? 0
      if (own >= maxOfAccount) return ownFull
      taken.set(account, own + 1)
      return Effect.void
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

  return <A, E, R>(account: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Overloaded | UseBudget, R> =>
    Effect.acquireUseRelease(
      take(account),
      () => inSlot(effect),
      () => giveBack(account)
    )
})
