import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { makeFairQueue } from "./FairQueue.js"
import { sharedBounds } from "./SharedBounds.js"
import { tenantOf } from "./Tenant.js"

/** Whether a fiber holds a lock that others wait for. Then it waits for no other fiber's slice. */
export class HoldsLock extends Context.Reference<HoldsLock>()("@coffer/server/HoldsLock", {
  defaultValue: () => false
}) {}

/** Runs an effect that holds a lock, such as the writer: its ticks come first. */
export const holdingLock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, HoldsLock, true)

/** How many ticks in a row go to fibers with a lock while others wait: a busy writer must not stop all readers. */
const maxUrgentTicks = 16

/** Waiters for a later tick. */
const urgent = makeFairQueue<() => void>()
const ordinary = makeFairQueue<() => void>()
let urgentTicks = 0

const takeNext = (): (() => void) | undefined => {
  const isTurnOfOthers = urgentTicks >= maxUrgentTicks && !ordinary.isEmpty()
  const first = isTurnOfOthers ? undefined : urgent.take()
  urgentTicks = first === undefined ? 0 : urgentTicks + 1
  return first ?? ordinary.take()
}

/** Whether a `setImmediate` is pending. */
let scheduled = false

const schedule = (): void => {
  if (scheduled) return
  scheduled = true
  setImmediate(() => {
    scheduled = false
    const next = takeNext()
    if (!urgent.isEmpty() || !ordinary.isEmpty()) schedule()
    next?.()
  })
}

const add = (queue: typeof ordinary, tenant: string, wake: () => void): (() => void) => {
  queue.add(tenant, wake)
  schedule()
  return () => {
    queue.remove(tenant, wake)
  }
}

/** Calls back in a later event-loop tick, as `nextTick` resumes a fiber. */
export const onNextTick = (tenant: string, callback: () => void): void => {
  add(ordinary, tenant, callback)
}

/**
 * Waits for a later event-loop tick, so that sockets and timers run in between: `Effect.yieldNow` resumes before them.
 * Each tick resumes one waiter, of the tenants in turn. If it resumed all of them, many long jobs together would block the event
 * loop.
 */
export const nextTick: Effect.Effect<void> = Effect.withFiberRuntime((fiber) => {
  const tenant = tenantOf(fiber)
  const queue = Context.get(fiber.currentContext, HoldsLock) ? urgent : ordinary
  return Effect.async((resume) =>
    Effect.sync(
      add(queue, tenant, () => {
        resume(Effect.void)
      })
    )
  )
})

/** `nextTick` of a fiber that holds a lock. */
export const urgentTick: Effect.Effect<void> = holdingLock(nextTick)

/** Waits by the system's timer instead of Effect's `Clock`: what another process does takes real time. */
export const pause = (millis: number) =>
  Effect.async<void>((resume) => {
    const timer = setTimeout(() => {
      resume(Effect.void)
    }, millis)
    return Effect.sync(() => {
      clearTimeout(timer)
    })
  })

/** How long `pacing` lets work run before it waits for the next tick, in milliseconds. */
const { total: sliceMillis } = sharedBounds.eventLoop

/** The same for work that no request waits for: a request would wait for a whole slice in each of its turns. */
const backgroundMillis = 1

const pacingBy = (slice: () => number) => {
  let begun = performance.now()
  const wait = Effect.map(nextTick, () => {
    begun = performance.now()
  })
  return Effect.suspend(() => (performance.now() - begun < slice() ? Effect.void : wait))
}

/** Returns an effect to run between the steps of long work: waits for the next tick once a slice has passed. */
export const pacing = () => pacingBy(() => sliceMillis)

/** `pacing` in short slices, while nobody waits for the work. */
export const backgroundPacing = (isAwaited: () => boolean) =>
  pacingBy(() => (isAwaited() ? sliceMillis : backgroundMillis))

/** `Effect.forEach` that yields to the event loop after each slice of time. */
export const forEachInSlices = <A, B, E, R>(
  items: ReadonlyArray<A>,
  step: (item: A, index: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.suspend(() => {
    const pace = pacing()
    return Effect.forEach(items, (item, index) => Effect.zipLeft(step(item, index), pace))
  })

/** Returns the results of a plain function, which costs the fiber no step per item. Yields to the event loop as `forEachInSlices`. */
export const mapInSlices = <A, B>(items: Iterable<A>, step: (item: A) => B): Effect.Effect<Array<B>> =>
  Effect.suspend(() => {
    const made: Array<B> = []
    const iterator = items[Symbol.iterator]()
    const slice = (): Effect.Effect<Array<B>> => {
      const begun = performance.now()
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        made.push(step(next.value))
        if (performance.now() - begun >= sliceMillis) return Effect.flatMap(nextTick, slice)
      }
      return Effect.succeed(made)
    }
    return slice()
  })
