import { SqlClient, type SqlConnection, SqlError } from "@effect/sql"
import type Sqlite from "better-sqlite3"
import { Context, Deferred, Effect, Either, Exit, FiberId, FiberRef, identity } from "effect"
import { turn } from "../Turn.js"
import { makeGate } from "./Gate.js"

export const failure = (cause: unknown) =>
  cause instanceof SqlError.SqlError ? cause : new SqlError.SqlError({ cause, message: "Failed to execute statement" })

const rolledBack = () => failure("the transaction was rolled back")

/** What is committed together; it is told once that is on disk. */
type Batch = Deferred.Deferred<void>

/**
 * Transactions of the one connection that writes. Changes that wait for their turn at the same time are committed together:
 * each is a savepoint of its own, is rolled back alone, and is told how it went only when the commit that holds it is on
 * disk. What waits for the disk is most of a write, so many at once cost little more than one. When a commit fails, each change
 * in it fails, and none of them has happened.
 */
export const transactionsOf = (
  database: Sqlite.Database,
  connection: SqlConnection.Connection,
  prepared: (text: string) => unknown
) => {
  const gate = makeGate()
  let batch: Batch | null = null
  /** Whether what is open holds a part of a change that could not be taken back. */
  let broken = false

  const attempt = (work: () => unknown): Either.Either<unknown, SqlError.SqlError> =>
    Either.try({ try: work, catch: failure })
  const run = (text: string) => attempt(() => database.exec(text))

  /** Ends a batch whose transaction is not open any more, or may not go on. */
  const fail = (lost: Batch, error: SqlError.SqlError): void => {
    batch = null
    broken = false
    // A commit that failed can leave its transaction open (sqlite.org/lang_transaction.html): what comes next is no part of it.
    if (database.inTransaction) run("ROLLBACK")
    Deferred.unsafeDone(lost, Exit.die(error))
  }

  /** Commits what is open, if anything is. Whoever calls it is inside the gate. */
  const commit = Effect.sync(() => {
    if (batch === null) return
    const current = batch
    const committed = run("COMMIT")
    if (Either.isLeft(committed)) return fail(current, committed.left)
    batch = null
    Deferred.unsafeDone(current, Exit.void)
  })

  /**
   * The batch that is open, or a new one. It is committed after everybody who waits once the requests that have arrived are
   * read: those of one turn of the event loop come one after another, and each would be through before the next is seen. Its
   * caller is inside the gate.
   */
  const join = Effect.suspend((): Effect.Effect<Batch, SqlError.SqlError> => {
    if (batch !== null) return Effect.succeed(batch)
    return Effect.flatMap(run("BEGIN IMMEDIATE"), () => {
      batch = Deferred.unsafeMake<void>(FiberId.none)
      return Effect.as(Effect.forkDaemon(Effect.zipRight(turn, gate.through(identity, commit))), batch)
    })
  })

  /** A step of the open transaction; none where the engine has rolled that back by itself: it would be kept alone. */
  const stepOf = <A>(step: () => Either.Either<A, SqlError.SqlError>): Either.Either<A, SqlError.SqlError> =>
    database.inTransaction ? step() : Either.left(rolledBack())

  const within = <A>(step: () => Either.Either<A, SqlError.SqlError>) => Effect.suspend(() => stepOf(step))

  const begin = (savepoint: string) => stepOf(() => attempt(() => prepared(`SAVEPOINT ${savepoint}`)))
  const release = (savepoint: string) => attempt(() => prepared(`RELEASE ${savepoint}`))

  /** Takes back what was changed since a savepoint. Where even that fails, nothing of the transaction may be kept. */
  const undo = (savepoint: string): void => {
    if (!database.inTransaction) return
    if (Either.isLeft(run(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`))) broken = true
  }

  /** Runs a step inside the open transaction: all of it or nothing. What it throws is its failure. */
  const savepoint = <A>(step: () => A): Either.Either<A, SqlError.SqlError> =>
    Either.flatMap(begin("step"), () => {
      const done = Either.flatMap(Either.try({ try: step, catch: failure }), (result) =>
        Either.map(release("step"), () => result)
      )
      if (Either.isLeft(done)) undo("step")
      return done
    })

  /** Runs a change inside the open transaction: all of it or nothing. Its caller cannot be interrupted, the change can. */
  const inside = <A, E, R>(
    depth: number,
    change: Effect.Effect<A, E, R>
  ): Effect.Effect<Exit.Exit<A, E | SqlError.SqlError>, never, R> =>
    Effect.suspend((): Effect.Effect<Exit.Exit<A, E | SqlError.SqlError>, never, R> => {
      const point = `change_${depth}`
      const begun = begin(point)
      if (Either.isLeft(begun)) return Effect.succeed(Exit.fail(begun.left))
      return Effect.map(
        Effect.exit(Effect.provideService(change, SqlClient.TransactionConnection, [connection, depth])),
        (exit): Exit.Exit<A, E> => {
          if (!database.inTransaction) return exit
          const released = Exit.isSuccess(exit) ? release(point) : null
          if (released !== null && Either.isRight(released)) return exit
          undo(point)
          return released === null ? exit : Exit.die(released.left)
        }
      )
    })

  const nested = <A, E, R>(depth: number, change: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) => Effect.flatten(inside(depth, restore(change))))

  const grouped = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) => {
      const joined = Effect.flatMap(join, (mine) =>
        Effect.map(inside(1, restore(change)), (exit) => {
          // The engine rolls everything back by itself when the disk is full or broken.
          if (broken || !database.inTransaction) fail(mine, rolledBack())
          return { exit, mine }
        })
      )
      return Effect.flatMap(gate.through(restore, joined), ({ exit, mine }): Effect.Effect<A, E | SqlError.SqlError> =>
        Exit.isSuccess(exit)
          ? Effect.zipRight(Deferred.await(mine), exit)
          : Effect.zipRight(Effect.exit(Deferred.await(mine)), exit)
      )
    })

  const withTransaction = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.withFiberRuntime((fiber) => {
      const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
      const changed = outer._tag === "Some" ? nested(outer.value[1] + 1, change) : grouped(change)
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
    Effect.uninterruptibleMask((restore) => gate.through(restore, Effect.zipRight(commit, restore(statement))))

  /** As `alone`, for what is done in one step: that needs no gate where nothing is open. */
  const outside = <A, E, R>(step: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (batch === null ? step : alone(step)))

  return { withTransaction, stepOf, within, savepoint, alone, outside } as const
}
