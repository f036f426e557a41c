import * as SqlError from "@effect/sql/SqlError"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import { holdingLock, pause } from "../../base/EventLoop.js"
import { retriedTransactions } from "../DatabaseMetrics.js"
import { type Ending, isInside, Snapshot, Transaction } from "../Database.js"
import type { Restore } from "../../base/RestoreMask.js"
import { changing, settle } from "../Changing.js"
import { beforeCommit } from "../Queues.js"
import type { Scope } from "../Scopes.js"
import { rolledBack } from "../SqlErrors.js"
import { Superseded } from "../Superseded.js"
import { DatabaseUnavailable, OutcomeUnknown } from "../Unavailable.js"
import type { Beginnings } from "./Begin.js"
import { ask, connectionOf, type Statements } from "./Connection.js"
import { type OpenTransaction, openTransaction } from "./OpenTransaction.js"
import type { Pool, Taken } from "./Pool.js"
import { isLost, isRetryable } from "./PostgresError.js"
import { makeScopeLines } from "./ScopeLocks.js"

/** How often a transaction is run until its deadlock or serialization failure reaches the caller. */
const maxAttempts = 8
/** The pause before the second attempt. It doubles with each attempt, and up to half of it is cut off at random. */
const firstPause = 5

type Refusal = SqlError.SqlError | DatabaseUnavailable | OutcomeUnknown | Superseded

/** How an attempt at a transaction ended. */
interface Attempt<A, E> {
  readonly exit: Exit.Exit<A, E>
  readonly endings: ReadonlyArray<Ending>
  /** Whether it ended by a deadlock or a serialization failure, and can be run again. */
  readonly mayRetry: boolean
}

/** Transactions and snapshots, each on a connection of its own from the pool. */
export const makeTransactions = (
  { acquire, refusalOf, snapshots }: Pick<Pool, "acquire" | "refusalOf" | "snapshots">,
  statements: Statements,
  beginnings: Beginnings
) => {
  const command = ({ client }: Taken, text: string) => ask(client, statements.once(text))
  const inLines = makeScopeLines()

  /** Fails with the error of a statement, or dies if it says more of the database than of the statement. */
  const orDie = (error: SqlError.SqlError): Effect.Effect<never, SqlError.SqlError> => {
    const refusal = refusalOf(error)
    return refusal instanceof SqlError.SqlError ? Effect.fail(refusal) : Effect.die(refusal)
  }

  /** Commits. Returns an error unless the server confirmed it; the outcome is unknown if the server did not answer. */
  const commit = (taken: Taken, { failure }: OpenTransaction): Effect.Effect<Refusal | null> =>
    Effect.match(command(taken, "COMMIT"), {
      // PostgreSQL answers COMMIT with ROLLBACK if a statement failed.
      onSuccess: (answer) => (answer.command === "COMMIT" ? null : refusalOf(failure() ?? rolledBack)),
      onFailure: (error) => (isLost(error) ? new OutcomeUnknown({ cause: error }) : error)
    })

  /** Ends a transaction by COMMIT or ROLLBACK, and gives its connection back. */
  const finish = <A, E>(taken: Taken, transaction: OpenTransaction, changed: Exit.Exit<A, E>) =>
    Effect.gen(function* () {
      transaction.end()
      const failure = transaction.failure()
      const refusal: Refusal | null =
        failure === null ? (Exit.isSuccess(changed) ? yield* commit(taken, transaction) : null) : refusalOf(failure)
      if (refusal === null && Exit.isSuccess(changed)) {
        taken.release(true)
        return { exit: changed, mayRetry: false }
      }
      const isConnectionLost = refusal instanceof DatabaseUnavailable || refusal instanceof OutcomeUnknown
      const isFinal = isConnectionLost || refusal instanceof Superseded
      taken.release(!isConnectionLost && (yield* Effect.isSuccess(command(taken, "ROLLBACK"))))
      const isInterrupted = Exit.isFailure(changed) && Cause.isInterrupted(changed.cause)
      const exit: Exit.Exit<A, E> =
        refusal === null || (Exit.isFailure(changed) && !isFinal) ? changed : Exit.die(refusal)
      const mayRetry =
        !isInterrupted && refusal !== null && !isFinal && (isRetryable(refusal) || transaction.mustRepeat())
      return { exit, mayRetry }
    })

  /** Locks the scopes with BEGIN, so that everything that the change reads is read under their locks. */
  const attempt = <A, E, R>(
    scopes: ReadonlyArray<Scope>,
    change: Effect.Effect<A, E, R>,
    restore: Restore,
    isFirst: boolean
  ) =>
    Effect.gen(function* () {
      const taken = yield* acquire(restore)
      const transaction = openTransaction(taken, statements, isFirst)
      const { open } = transaction
      const last = Effect.suspend(() => {
        transaction.last()
        return open.queues.run
      })
      transaction.begin(beginnings.change(scopes), taken.spentMillis)
      const changed = yield* Effect.exit(
        Effect.provideService(holdingLock(Effect.zipLeft(restore(change), last)), Transaction, [open, 0])
      )
      const ended = yield* finish(taken, transaction, changed)
      return { ...ended, endings: open.endings.splice(0) } satisfies Attempt<A, E>
    })

  const outermost = <A, E, R>(scopes: ReadonlyArray<Scope>, change: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) => {
      const run = (attempts: number, millis: number): Effect.Effect<A, E, Exclude<R, Transaction>> =>
        Effect.flatMap(attempt(scopes, change, restore, attempts === 1), ({ endings, exit, mayRetry }) =>
          mayRetry && attempts < maxAttempts
            ? Metric.increment(retriedTransactions).pipe(
                Effect.zipRight(restore(Effect.flatMap(Random.next, (some) => pause(millis * (1 - some / 2))))),
                Effect.zipRight(Effect.suspend(() => run(attempts + 1, millis * 2)))
              )
            : Effect.zipRight(settle(endings, exit), exit)
        )
      return run(1, firstPause)
    })

  /** Implements `Database.snapshot`. An open transaction or snapshot is reused. */
  const snapshot = <A, E, R>(reads: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWithEffect((context: Context.Context<never>) => {
      if (isInside(context)) return reads
      return snapshots.inside(
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const taken = yield* acquire(restore)
            const connection = connectionOf(statements, (statement) =>
              Effect.catchAll(ask(taken.client, statement), orDie)
            )
            const exit = yield* Effect.exit(
              Effect.zipRight(
                Effect.orDie(Effect.mapError(command(taken, beginnings.snapshot()), refusalOf)),
                Effect.provideService(restore(reads), Snapshot, connection)
              )
            )
            taken.release(yield* Effect.isSuccess(command(taken, "ROLLBACK")))
            return yield* exit
          })
        )
      )
    })

  return {
    ...changing("postgresql", (scopes, change) => inLines(scopes, outermost(scopes, change))),
    snapshot,
    beforeCommit
  } as const
}
