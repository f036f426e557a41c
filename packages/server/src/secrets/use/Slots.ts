import { UseBudget } from "@coffer/domain/Errors"
import { Effect, Metric } from "effect"
import { useRefusals } from "./UseMetrics.js"

const maxOfServer = 16
const maxOfAccount = 4

const full = (whose: string) =>
  Effect.zipRight(
    Metric.increment(useRefusals("concurrency")),
    new UseBudget({ message: `${whose} requests are on their way already: try again in 1 second`, retryAfter: 1 })
  )

/** Bounds the requests that are on their way at the same time. */
export const makeSlots = Effect.sync(() => {
  const taken = new Map<string, number>()
  let all = 0

  const take = (account: string): Effect.Effect<void, UseBudget> =>
    Effect.suspend(() => {
      const own = taken.get(account) ?? 0
      if (all >= maxOfServer) return full(`${maxOfServer}`)
      if (own >= maxOfAccount) return full(`${maxOfAccount} of your`)
      all += 1
      taken.set(account, own + 1)
      return Effect.void
    })

  const giveBack = (account: string) =>
    Effect.sync(() => {
      all -= 1
      const own = (taken.get(account) ?? 0) - 1
      if (own > 0) taken.set(account, own)
      else taken.delete(account)
    })

  return <A, E, R>(account: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | UseBudget, R> =>
    Effect.acquireUseRelease(
      take(account),
      () => effect,
      () => giveBack(account)
    )
})
