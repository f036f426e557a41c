import type * as SqlError from "@effect/sql/SqlError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type { QueryResult } from "pg"
import type { Ending, Open } from "../Database.js"
import { guardedConnection } from "../GuardedConnection.js"
import { makeQueues } from "../Queues.js"
import { isLockTimeout } from "../../base/Reason.js"
import { rolledBack } from "../SqlErrors.js"
import { after, ask, connectionOf, send, type Statements } from "./Connection.js"
import type { Taken } from "./Pool.js"
import type { Begin } from "./Begin.js"
import { connectionClosed, isLost, isMoved, isRetryable } from "./PostgresError.js"

/**
 * How many statements may wait for their answers. Each one's time limit begins when it is sent, so a long queue would outlast it.
 */
const maxPending = 64

type Statement = Parameters<typeof send>[1]
type Result = QueryResult<Record<string, unknown>>

/** A read that was sent, and whose answer nobody has asked for. */
interface Ahead {
  readonly statement: Statement
  readonly answer: Deferred.Deferred<Result, SqlError.SqlError>
}

const isSame = (one: Statement, other: Statement): boolean =>
  one.text === other.text && one.values?.every((value, index) => value === other.values?.[index]) === true

/**
 * A transaction on a connection of its own. If `mayRepeat`, the caller runs it again when its last statements fail, as
 * `mustRepeat` says: they need no savepoint, and no answer before COMMIT is sent.
 */
export const openTransaction = ({ client, isClosed }: Taken, statements: Statements, mayRepeat: boolean) => {
  /** The error of a statement. PostgreSQL refuses later statements until the savepoint before it is rolled back. */
  let failure: SqlError.SqlError | null = null
  /**
   * The error after which no part of the transaction can be committed: a lost connection, another fence, a deadlock, or a wait for
   * a lock that took too long. Otherwise a change could be committed without its audit entry, which was only late.
   */
  let doom: SqlError.SqlError | null = null
  let isOver = false
  /** Whether only what is queued until the commit is left to run, and whether that was the first to fail. */
  let isLast = false
  let lastFailed = false
  let savepoints = 0
  const endings: Array<Ending> = []

  const onFailure = (error: SqlError.SqlError, ofLast = isLast): void => {
    if (failure === null) lastFailed = ofLast
    failure ??= error
    if (isLost(error) || isMoved(error) || isRetryable(error) || isLockTimeout(error)) doom ??= error
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

  const aheads: Array<Ahead> = []

  /** Sends a statement without waiting for its answer. */
  const post = (statement: Statement): void => {
    const ofLast = isLast
    pending++
    send(client, statement, (error) => {
      pending--
      if (error !== null) onFailure(error, ofLast)
      if (pending === 0) for (const resume of waiting.splice(0)) resume()
    })
  }

  /** Runs a statement after the sent ones, unless it was sent ahead. If one of those failed, that is the failure. */
  const askAfter = (statement: Statement) =>
    Effect.suspend(() => {
      const index = aheads.findIndex((one) => isSame(one.statement, statement))
      const [ahead] = index < 0 ? [] : aheads.splice(index, 1)
      return ahead === undefined ? ask(client, statement) : Deferred.await(ahead.answer)
    }).pipe(
      Effect.mapError((error) => {
        onFailure(error)
        return doom ?? failure ?? error
      })
    )

  const command = (text: string) => askAfter(statements.once(text))

  /** Nothing can be undone then: the transaction fails as a whole. */
  const noSavepoint = Effect.sync(() => ({
    release: Effect.void,
    undo: Effect.sync(() => {
      onFailure(rolledBack)
    })
  }))

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

  const connection = guardedConnection(connectionOf(statements, askAfter), { refusal, onFailure })

  const open: Open = {
    endings,
    connection,
    send: (text, values) =>
      Effect.suspend(() => {
        const refused = refusal()
        if (refused !== null) return Effect.fail(refused)
        aheads.length = 0
        post(statements.repeated(text, values))
        return pending < maxPending ? Effect.void : settled
      }),
    ask: (text, values) =>
      Effect.suspend(() => {
        aheads.length = 0
        return connection.execute(text, values, undefined)
      }),
    ahead: (text, values) => {
      if (refusal() !== null) return
      const statement = statements.repeated(text, values)
      const answer = Deferred.unsafeMake<Result, SqlError.SqlError>(FiberId.none)
      send(client, statement, (error, result) => {
        if (error !== null) onFailure(error)
        Deferred.unsafeDone(answer, result === null ? Effect.fail(error ?? rolledBack) : Effect.succeed(result))
      })
      aheads.push({ statement, answer })
    },
    settled,
    savepoint: () => (isLast && mayRepeat ? noSavepoint : savepoint),
    queues: makeQueues()
  }

  return {
    open,
    /** Begins without waiting: if that fails, so does the next statement. `spentMillis` is taken off its limit. */
    begin: (begin: Begin, spentMillis: number): void => {
      post(after(spentMillis, statements.once(begin)))
    },
    /** The error that a commit must not follow. */
    failure: firstFailure,
    /** Says that only what is queued until the commit is left to run. */
    last: (): void => {
      isLast = true
    },
    /** Whether nothing but the last statements failed, and the transaction can run again. */
    mustRepeat: (): boolean => mayRepeat && lastFailed && doom === null,
    /** Refuses all later statements, such as those of a fiber that outlives the transaction. */
    end: (): void => {
      isOver = true
    }
  } as const
}

export type OpenTransaction = ReturnType<typeof openTransaction>
