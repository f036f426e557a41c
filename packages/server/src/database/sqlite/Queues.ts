import { Array, Effect } from "effect"
import { Transaction } from "../Database.js"

interface Queue {
  readonly size: () => number
  readonly cut: (size: number) => void
  readonly run: Effect.Effect<void, never, Transaction>
}

/** What the changes of a group leave to its commit, to be written once for all of them. */
export const makeQueues = () => {
  const queues: Array<Queue> = []
  /** How much was left before each savepoint that is open. */
  const marks: Array<ReadonlyArray<number>> = []

  /** Notes how much was left before the savepoint at a depth. */
  const mark = (depth: number): void => {
    marks.length = depth
    marks.push(queues.map((queue) => queue.size()))
  }

  /** Drops what was left since the savepoint at a depth. */
  const cut = (depth: number): void => {
    const before = marks[depth]
    marks.length = depth
    queues.forEach((queue, index) => {
      queue.cut(before?.[index] ?? 0)
    })
  }

  const clear = (): void => {
    marks.length = 0
    for (const queue of queues) queue.cut(0)
  }

  const beforeCommit = <A>(
    append: (items: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, Transaction>
  ): ((item: A) => Effect.Effect<void, never, Transaction>) => {
    let left: Array<A> = []
    queues.push({
      size: () => left.length,
      cut: (size) => {
        left.length = size
      },
      run: Effect.suspend(() => {
        const all = left
        left = []
        return Array.isNonEmptyArray(all) ? append(all) : Effect.void
      })
    })
    return (item) =>
      Effect.map(Transaction, () => {
        left.push(item)
      })
  }

  return {
    mark,
    cut,
    clear,
    beforeCommit,
    /** Writes what was left. */
    run: Effect.suspend(() => Effect.forEach(queues, (queue) => queue.run, { discard: true }))
  } as const
}
