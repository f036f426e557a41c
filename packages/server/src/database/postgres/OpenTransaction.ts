import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { Ending, Open } from "../Database.js"
import { guardedConnection } from "../GuardedConnection.js"
import { makeQueues } from "../Queues.js"
import { isLockTimeout } from "../../base/Reason.js"
import { rolledBack } from "../SqlErrors.js"
import { ask, connectionOf, send, type Statements } from "./Connection.js"
import type { Taken } from "./Pool.js"
import { connectionClosed, isLost, isRetryable } from "./PostgresError.js"

/**
 * How many statements may wait for their answers. Each one's time limit begins when it is sent, so a long queue would outlast it.
 */
const maxPending = 64

/** A transaction on a connection of its own. */
export const openTransaction = ({ client, isClosed }: Taken, statements: Statements) => {
  /** The error of a statement. PostgreSQL refuses later statements until the savepoint before it is rolled back. */
  let failure: SqlError.SqlError | null = null
  /**
   * The error after which no part of the transaction can be committed: a lost connection, a deadlock, or a wait for a lock that
   * took too long. Otherwise a change could be committed without its audit entry, which was only late.
   */
  let doom: SqlError.SqlError | null = null
  let isOver = false
  let savepoints = 0
  const endings: Array<Ending> = []

  const onFailure = (error: SqlError.SqlError): void => {
    failure ??= error
    if (isLost(error) || isRetryable(error) || isLockTimeout(error)) doom ??= error
  }

  /** The first failure, also of a connection that was lost while no statement ran. */
  const firstFailure = (): SqlError.SqlError | null => {
    if (doom === null && isClosed()) onFailure(connectionClosed)
    return doom ?? failure
  }

  const refusal = (): SqlError.SqlError | null => (isOver ? rolledBack : firstFailure())

  /** The statements that were sent and not answered, and the fibers that wait until there are none. */
  let pending = 0
  const waiting: Array<() => void> = []

  const settled = Effect.suspend(() => {
    const outcome = Effect.suspend(() => {
      const error = refusal()
      return error === null ? Effect.void : Effect.fail(error)
    })
    return pending === 0
      ? outcome
      : Effect.zipRight(
          Effect.async<void>((resume) => {
            waiting.push(() => {
              resume(Effect.void)
            })
          }),
          outcome
        )
  })

  /** Sends a statement without waiting for its answer. */
  const post = (statement: Parameters<typeof send>[1]): void => {
    pending++
    send(client, statement, (error) => {
      pending--
      if (error !== null) onFailure(error)
      if (pending === 0) for (const resume of waiting.splice(0)) resume()
    })
  }

  /** Runs a statement after the sent ones. If one of those failed, that is the failure. */
  const askAfter = (statement: Parameters<typeof send>[1]) =>
    Effect.mapError(ask(client, statement), (error) => {
      onFailure(error)
      return doom ?? failure ?? error
    })

  const command = (text: string) => askAfter(statements.once(text))

  const savepoint = Effect.gen(function* () {
    const name = `part_${++savepoints}`
    const refused = refusal()
    if (refused !== null) return yield* Effect.fail(refused)
    post(statements.once(`SAVEPOINT ${name}`))
    const release = Effect.asVoid(command(`RELEASE SAVEPOINT ${name}`))
    const undo = Effect.zipRight(
      Effect.ignore(settled),
      Effect.suspend(() => {
        failure = doom
        // Another transaction may have the connection by now.
        return doom === null && !isOver
          ? Effect.zipRight(command(`ROLLBACK TO SAVEPOINT ${name}`), release)
          : Effect.void
      })
    )
    return { release, undo } as const
  })

  const open: Open = {
    endings,
    connection: guardedConnection(connectionOf(statements, askAfter), { refusal, onFailure }),
    send: (text, values) =>
      Effect.suspend(() => {
        const refused = refusal()
        if (refused !== null) return Effect.fail(refused)
        post(statements.repeated(text, values))
        return pending < maxPending ? Effect.void : settled
      }),
    settled,
    savepoint: () => savepoint,
    queues: makeQueues()
  }

  return {
    open,
    /** Begins without waiting: if that fails, so does the next statement. */
    begin: post,
    /** The error that a commit must not follow. */
    failure: firstFailure,
    /** Refuses all later statements, such as those of a fiber that outlives the transaction. */
    end: (): void => {
      isOver = true
    }
  } as const
}

export type OpenTransaction = ReturnType<typeof openTransaction>
