import type { SqlError } from "@effect/sql"
import { Array, Effect } from "effect"
import type { PoolClient } from "pg"
import { type Ending, type Open, Transaction } from "../Database.js"
import { guardedConnection } from "../GuardedConnection.js"
import { rolledBack } from "../SqlErrors.js"
import { ask, connectionOf, type Statements } from "./Connection.js"
import { isLost, isRetryable } from "./PostgresError.js"

/** Items that one transaction queues for one `append`. */
interface Queue {
  readonly size: () => number
  readonly cut: (size: number) => void
  readonly run: Effect.Effect<void, never, Transaction>
}

/** A transaction on a connection of its own. */
export const openTransaction = (client: PoolClient, statements: Statements) => {
  /** The error of a statement. PostgreSQL refuses later statements until the savepoint before it is rolled back. */
  let failure: SqlError.SqlError | null = null
  /** The error after which no part of the transaction can be committed: a lost connection, a deadlock. */
  let doom: SqlError.SqlError | null = null
  let isOver = false
  let savepoints = 0
  const endings: Array<Ending> = []
  const queues: Array<Queue> = []

  const onFailure = (error: SqlError.SqlError): void => {
    failure ??= error
    if (isLost(error) || isRetryable(error)) doom ??= error
  }

  const command = (text: string) =>
    Effect.tapError(ask(client, statements.once(text)), (error) => Effect.sync(() => onFailure(error)))

  const open: Open = {
    endings,
    connection: guardedConnection(
      connectionOf(statements, (statement) => ask(client, statement)),
      { refusal: () => (isOver ? rolledBack : (doom ?? failure)), onFailure }
    )
  }

  /** Sets a savepoint, and returns how to undo what follows it and how to keep that. */
  const savepoint = Effect.gen(function* () {
    const name = `part_${++savepoints}`
    yield* command(`SAVEPOINT ${name}`)
    const before = queues.map(({ size }) => size())
    const release = command(`RELEASE SAVEPOINT ${name}`)
    const undo = Effect.suspend(() => {
      queues.forEach((queue, index) => {
        queue.cut(before[index] ?? 0)
      })
      failure = doom
      return doom === null ? Effect.zipRight(command(`ROLLBACK TO SAVEPOINT ${name}`), release) : Effect.void
    })
    return { release, undo } as const
  })

  return {
    open,
    savepoint,
    queues,
    /** Writes the queued items, of which `append` functions may queue more. */
    appendAll: Effect.gen(function* () {
      for (let at = 0; at < queues.length; at++) yield* queues[at]?.run ?? Effect.void
    }),
    /** The error that a commit must not follow. */
    failure: () => doom ?? failure,
    /** Refuses all later statements, such as those of a fiber that outlives the transaction. */
    end: (): void => {
      isOver = true
    }
  } as const
}

export type OpenTransaction = ReturnType<typeof openTransaction>

/** Implements `Database.beforeCommit`. */
export const queueing =
  (transactionOf: (open: Open) => OpenTransaction | undefined) =>
  <A>(append: (items: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, Transaction>) => {
    const queued = new WeakMap<Open, Array<A>>()
    const register = (open: Open): Array<A> => {
      const items: Array<A> = []
      queued.set(open, items)
      transactionOf(open)?.queues.push({
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
    return (item: A): Effect.Effect<void, never, Transaction> =>
      Effect.map(Transaction, ([open]) => {
        ;(queued.get(open) ?? register(open)).push(item)
      })
  }
