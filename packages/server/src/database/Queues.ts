import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { withService } from "../base/WithService.js"
import { type Queue, type Queues, Transaction } from "./Database.js"

export const makeQueues = (): Queues => {
  const queues: Array<Queue> = []

  const run: Effect.Effect<void, never, Transaction> = Effect.suspend(() => {
    const next = queues.find((queue) => queue.size() > 0)
    return next === undefined ? Effect.void : Effect.zipRight(next.run, run)
  })

  return {
    add: (queue: Queue): void => {
      queues.push(queue)
    },
    mark: (): (() => void) => {
      const sizes = queues.map((queue) => queue.size())
      return () => {
        queues.forEach((queue, index) => {
          queue.cut(sizes[index] ?? 0)
        })
      }
    },
    run
  }
}

/** Implements `Database.beforeCommit`. */
export const beforeCommit = <A>(
  append: (items: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, Transaction>
): ((item: A) => Effect.Effect<void, never, Transaction>) => {
  const queued = new WeakMap<Queues, Array<A>>()

  const register = (queues: Queues): Array<A> => {
    const items: Array<A> = []
    queued.set(queues, items)
    queues.add({
      size: () => items.length,
      cut: (size) => {
        items.length = size
      },
      run: Effect.suspend(() => {
        const some = items.splice(0)
        return Array.isNonEmptyArray(some) ? append(some) : Effect.void
      })
    })
    return items
  }

  return (item) =>
    withService(Transaction, ([{ queues }]) => {
      ;(queued.get(queues) ?? register(queues)).push(item)
      return Effect.void
    })
}
