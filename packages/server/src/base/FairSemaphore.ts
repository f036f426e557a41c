import * as Effect from "effect/Effect"
import { makeFairQueue } from "./FairQueue.js"
import type { Restore } from "./RestoreMask.js"
import { mayTake, type SharedBound } from "./SharedBounds.js"
import { tenantOf } from "./Tenant.js"

interface Waiter {
  readonly tenant: string
  readonly grant: () => void
}

/**
 * A semaphore whose permits go to the waiting tenants in turn. The toolkit's `PartitionedSemaphore` loses a permit if a fiber is
 * interrupted between its wake-up and its next step, and does not bound what one tenant holds.
 */
export const makeFairSemaphore = (bound: Pick<SharedBound, "each" | "total">) => {
  let free = bound.total
  const held = new Map<string, number>()
  const waiting = makeFairQueue<Waiter>()
  /** Waiters that let all others go first. */
  const last = new Set<Waiter>()

  const mayHave = (tenant: string): boolean => mayTake(bound, held.get(tenant) ?? 0, bound.total - free, 1)

  const grant = (waiter: Waiter): void => {
    free--
    held.set(waiter.tenant, (held.get(waiter.tenant) ?? 0) + 1)
    waiter.grant()
  }

  const takeLast = (): Waiter | undefined => {
    for (const waiter of last) {
      if (!mayHave(waiter.tenant)) continue
      last.delete(waiter)
      return waiter
    }
    return undefined
  }

  /** Grants what is free. A permit that is given back also raises what its tenant may have. */
  const grantAll = (): void => {
    while (free > 0) {
      const next = waiting.take(mayHave) ?? takeLast()
      if (next === undefined) return
      grant(next)
    }
  }

  /** Gives a permit of a tenant back. */
  const release = (tenant: string): void => {
    const rest = (held.get(tenant) ?? 0) - 1
    if (rest > 0) held.set(tenant, rest)
    else held.delete(tenant)
    free++
    grantAll()
  }

  /** Calls `granted` once the tenant has a permit, at once if one is free. Returns how to stop waiting. */
  const request = (tenant: string, granted: () => void, isLast = false): (() => void) => {
    const waiter = { tenant, grant: granted }
    if (free > 0 && mayHave(tenant)) {
      grant(waiter)
      return () => undefined
    }
    if (isLast) last.add(waiter)
    else waiting.add(tenant, waiter)
    return () => {
      if (!last.delete(waiter)) waiting.remove(tenant, waiter)
    }
  }

  const wait = (tenant: string, restore: Restore, isLast: boolean): Effect.Effect<void> =>
    Effect.suspend(() => {
      let isMine = false
      let stopWaiting = (): void => undefined
      const granted = Effect.async<void>((resume) => {
        stopWaiting = request(
          tenant,
          () => {
            isMine = true
            resume(Effect.void)
          },
          isLast
        )
      })
      // Not the canceller of `async`, which is lost if the fiber is interrupted before its next step; nor is a permit then.
      return Effect.onInterrupt(restore(granted), () =>
        Effect.sync(() => {
          if (isMine) release(tenant)
          else stopWaiting()
        })
      )
    })

  /** Takes a permit. Returns how to give it back, once. The caller must be uninterruptible; only the wait is restored. */
  const enter = (restore: Restore, isLast = false): Effect.Effect<Effect.Effect<void>> =>
    Effect.withFiberRuntime((fiber) => {
      const tenant = tenantOf(fiber)
      const leave = Effect.sync(() => {
        release(tenant)
      })
      if (free > 0 && mayHave(tenant)) {
        grant({ tenant, grant: () => undefined })
        return Effect.succeed(leave)
      }
      return Effect.as(wait(tenant, restore, isLast), leave)
    })

  /** Runs an effect with a permit; `isLast` lets all other waiters go first. */
  const inside = <A, E, R>(effect: Effect.Effect<A, E, R>, isLast = false): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(enter(restore, isLast), (leave) => Effect.ensuring(restore(effect), leave))
    )

  /** Takes a permit for the scope. */
  const scoped = Effect.uninterruptibleMask((restore) => Effect.acquireRelease(enter(restore), (leave) => leave))

  return {
    enter,
    inside,
    scoped,
    request,
    release,
    isFree: (): boolean => free > 0,
    /** Whether anybody waits for a permit. */
    isAwaited: (): boolean => !waiting.isEmpty() || last.size > 0
  } as const
}

export type FairSemaphore = ReturnType<typeof makeFairSemaphore>
