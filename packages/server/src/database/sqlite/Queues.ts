import { Array, Effect } from "effect"
import { Transaction } from "../Database.js"

interface Queue {
  readonly size: () => number
  readonly cut: (size: number) => void
  readonly run: Effect.Effect<void, never, Transaction>
}

/** Items that the changes of a group queue, to be written once for all of them before the group commit. */
export const makeQueues = () => {
  const queues: Array<Queue> = []
  /** The queues' sizes at each open savepoint. */
  const marks: Array<ReadonlyArray<number>> = []

  /** Records the queues' sizes at the savepoint of a depth. */
  const mark = (depth: number): void => {
    marks.length = depth
    marks.push(queues.map((queue) => queue.size()))
  }

  /** Drops the items queued since the savepoint of a depth. */
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
    let queued: Array<A> = []
    queues.push({
      size: () => queued.length,
      cut: (size) => {
        queued.length = size
      },
      run: Effect.suspend(() => {
        const items = queued
        queued = []
        return Array.isNonEmptyArray(items) ? append(items) : Effect.void
      })
    })
    return (item) =>
      Effect.map(Transaction, () => {
        queued.push(item)
      })
  }

  return {
    mark,
    cut,
    clear,
    beforeCommit,
    /** Writes the queued items. */
    run: Effect.suspend(() => Effect.forEach(queues, (queue) => queue.run, { discard: true }))
  } as const
}
