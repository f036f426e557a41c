import { SqlClient, type SqlConnection, SqlError } from "@effect/sql"
import type Sqlite from "better-sqlite3"
import { Context, Deferred, Effect, Either, Exit, FiberId, FiberRef } from "effect"

export const failure = (cause: unknown) => new SqlError.SqlError({ cause, message: "Failed to execute statement" })

const rolledBack = () => failure("the transaction was rolled back")

/** What is committed together; it is told once that is on disk. */
type Batch = Deferred.Deferred<void>

/**
 * Transactions of the one connection that writes. Changes that wait for their turn at the same time are committed together:
 * each is a savepoint of its own, is rolled back alone, and is told how it went only when the commit that holds it is on
 * disk. What waits for the disk is most of a write, so many at once cost little more than one. When a commit fails, each change
 * in it fails, and none of them has happened.
 */
export const transactionsOf = (database: Sqlite.Database, connection: SqlConnection.Connection) => {
  const gate = Effect.unsafeMakeSemaphore(1)
  let batch: Batch | null = null
  /** Whether what is open holds a part of a change that could not be taken back. */
  let broken = false

  const run = (text: string) => Either.try({ try: () => database.exec(text), catch: failure })

  /** Ends a batch whose transaction is not open any more, or may not go on. */
  const fail = (lost: Batch, error: SqlError.SqlError): void => {
    batch = null
    broken = false
    // A commit that failed can leave its transaction open (sqlite.org/lang_transaction.html): what comes next is no part of it.
    if (database.inTransaction) run("ROLLBACK")
    Deferred.unsafeDone(lost, Exit.die(error))
  }

  /** Commits what is open, if anything is. Whoever calls it holds the gate. */
  const commit = Effect.sync(() => {
    if (batch === null) return
    const current = batch
    const committed = run("COMMIT")
    if (Either.isLeft(committed)) return fail(current, committed.left)
    batch = null
    Deferred.unsafeDone(current, Exit.void)
  })

  /** The batch that is open, or a new one, which is committed after everybody who waits now. Its caller holds the gate. */
  const join = Effect.suspend((): Effect.Effect<Batch, SqlError.SqlError> => {
    if (batch !== null) return Effect.succeed(batch)
    return Effect.flatMap(run("BEGIN"), () => {
      batch = Deferred.unsafeMake<void>(FiberId.none)
      return Effect.as(Effect.forkDaemon(gate.withPermits(1)(commit)), batch)
    })
  })

  /** A step of the open transaction; none where the engine has rolled that back by itself: it would be kept alone. */
  const within = <A>(step: () => Either.Either<A, SqlError.SqlError>) =>
    Effect.suspend(() => (database.inTransaction ? step() : Either.left(rolledBack())))

  /** Takes back what was changed since a savepoint. Where even that fails, nothing of the transaction may be kept. */
  const undo = (depth: number): void => {
    if (Either.isLeft(run(`ROLLBACK TO change_${depth}; RELEASE change_${depth}`))) broken = true
  }

  /** Runs a change inside the open transaction: all of it or nothing. */
  const inside = <A, E, R>(depth: number, change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(
        within(() => run(`SAVEPOINT change_${depth}`)),
        Effect.flatMap(
          Effect.exit(restore(Effect.provideService(change, SqlClient.TransactionConnection, [connection, depth]))),
          (exit): Effect.Effect<A, E> => {
            if (!database.inTransaction) return exit
            const released = Exit.isSuccess(exit) ? run(`RELEASE change_${depth}`) : null
            if (released !== null && Either.isRight(released)) return exit
            undo(depth)
            return released === null ? exit : Effect.die(released.left)
          }
        )
      )
    )

  /** Makes a change part of what is open, and tells how it went and what it waits for. Its caller holds the gate. */
  const joined = <A, E, R>(change: Effect.Effect<A, E, R>) =>
    Effect.flatMap(join, (mine) =>
      Effect.map(Effect.exit(inside(1, change)), (exit) => {
        // The engine rolls everything back by itself when the disk is full or broken.
        if (broken || !database.inTransaction) fail(mine, rolledBack())
        return { exit, mine }
      })
    )

  const grouped = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.zipRight(restore(gate.take(1)), Effect.ensuring(joined(restore(change)), gate.release(1))),
        ({ exit, mine }): Effect.Effect<A, E | SqlError.SqlError> =>
          Exit.isSuccess(exit)
            ? Effect.zipRight(Deferred.await(mine), exit)
            : Effect.zipRight(Effect.exit(Deferred.await(mine)), exit)
      )
    )

  const withTransaction = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.withFiberRuntime((fiber) => {
      const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
      const changed = outer._tag === "Some" ? inside(outer.value[1] + 1, change) : grouped(change)
      return fiber.getFiberRef(FiberRef.currentTracerEnabled)
        ? Effect.withSpan(changed, "sql.transaction", {
            kind: "client",
            captureStackTrace: false,
            attributes: { "db.system.name": "sqlite" }
          })
        : changed
    })

  /** Runs what belongs to no transaction when none is open, and lets none begin meanwhile. */
  const alone = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    gate.withPermits(1)(Effect.zipRight(commit, statement))

  /** As `alone`, for what is done in one step: that needs no gate where nothing is open. */
  const outside = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (batch === null ? step : alone(step)))

  return { withTransaction, within, alone, outside } as const
}
