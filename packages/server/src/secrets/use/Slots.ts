import { Overloaded, UseBudget } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { useRefusals } from "./UseMetrics.js"

const { total: maxOfServer } = sharedBounds.uses
const { total: maxOfAccount } = sharedBounds.usesOfAccount
/** How long a request waits for a slot: each of those in flight takes 30 seconds at most. */
const patience = "4 seconds"

const ownFullOf = (most: number) =>
  new UseBudget({ message: `${most} of your requests are in flight: try again in 1 second`, retryAfter: 1 })

const ownFull = ownFullOf(maxOfAccount)

const allFull = Effect.zipRight(
  Metric.increment(useRefusals("concurrency")),
  new Overloaded({
    message: `all slots for requests with secrets are in use, ${maxOfServer} of the server and ${Math.floor(maxOfServer / 2)} of an organization, or fewer beside others: try again in 1 second`,
    retryAfter: 1
  })
)

/** Counts what is in flight of each account. */
const accountCounts = (most: number) => {
  const taken = new Map<string, number>()
  return {
    /** Returns whether the account has not all of its slots. */
    take: (account: string): Effect.Effect<boolean> =>
      Effect.sync(() => {
        const own = taken.get(account) ?? 0
        if (own >= most) return false
        taken.set(account, own + 1)
        return true
      }),
    giveBack: (account: string) =>
      Effect.sync(() => {
        const own = (taken.get(account) ?? 0) - 1
        if (own > 0) taken.set(account, own)
        else taken.delete(account)
      })
  }
}

const { total: maxStreamsOfAccount } = sharedBounds.useStreamsOfAccount

const streamsFull = new Overloaded({
  message: "all slots for streams with secrets are in use: try again in 1 second",
  retryAfter: 1
})

/** Bounds the streams that are in flight at the same time. A slot is held until the scope is closed: for minutes. */
export const makeStreamSlots = Effect.sync(() => {
  const slots = makeFairSemaphore(sharedBounds.useStreams)
  const { giveBack, take } = accountCounts(maxStreamsOfAccount)
  return (account: string): Effect.Effect<void, Overloaded | UseBudget, Scope.Scope> =>
    Effect.gen(function* () {
      const isTaken = yield* Effect.acquireRelease(take(account), (isMine) =>
        isMine ? giveBack(account) : Effect.void
      )
      if (!isTaken) return yield* ownFullOf(maxStreamsOfAccount)
      yield* Effect.asVoid(Effect.timeoutFail(slots.scoped, { duration: patience, onTimeout: () => streamsFull }))
    })
})

/** Bounds the requests that are in flight at the same time. Slots go to the waiting organizations in turn. */
export const makeSlots = Effect.sync(() => {
  const slots = makeFairSemaphore(sharedBounds.uses)
  const { giveBack, take } = accountCounts(maxOfAccount)

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
