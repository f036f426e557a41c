import { SqlClient, type SqlConnection, SqlError } from "@effect/sql"
import { Cause, Context, Deferred, Effect, Either, Exit, FiberId, FiberRef, Option } from "effect"
import { turn } from "../Turn.js"
import { isBusy, makePatience } from "./Busy.js"
import { Transaction } from "./Database.js"
import { withEndings } from "./Endings.js"
import { makeGate, type Restore } from "./Gate.js"

export const failure = (cause: unknown) =>
  cause instanceof SqlError.SqlError ? cause : new SqlError.SqlError({ cause, message: "Failed to execute statement" })

const rolledBack = () => failure("the transaction was rolled back")

/** Why a transaction is not kept in which a change ended so. */
const reasonOf = (exit: Exit.Exit<unknown, unknown>): SqlError.SqlError => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof SqlError.SqlError ? error : rolledBack()
}

/** What is committed together; it is told once that is on disk. */
type Batch = Deferred.Deferred<void>

/**
 * A batch that has changed so many rows takes no further change: entries of the audit log are rows too. Nor does one that was
 * given so many bytes, for a commit writes all of them at once.
 */
const maxRows = 1_000
const maxBytes = 1024 * 1024

/** What the changes of a batch leave to its end, and how much of it. */
interface Ending {
  readonly size: () => number
  readonly cut: (size: number) => void
  readonly run: () => void
}

/**
 * Transactions of the one connection that writes. Changes that wait for their turn at the same time are committed together:
 * each is a savepoint of its own, is rolled back alone, and is told how it went only when the commit that holds it is on
 * disk. What waits for the disk is most of a write, so many at once cost little more than one. When a commit fails, each change
 * in it fails and is rolled back. After a failed flush that is certain only while this process lives: frames of the log that
 * have reached the disk can be found by the next one after a crash.
 */
export const transactionsOf = (
  database: { readonly inTransaction: boolean },
  connection: SqlConnection.Connection,
  prepared: (text: string) => unknown,
  exec: (text: string) => unknown,
  /** How many rows the connection has changed so far. */
  rowsChanged: () => number,
  /** How many bytes its statements were given so far. */
  bytesGiven: () => number
) => {
  const gate = makeGate()
  const { granted, isExhausted, patiently, refused } = makePatience()
  let batch: Batch | null = null
  /** How many rows the connection had changed when the batch began. */
  let changedBefore = 0
  /** How many bytes its statements had been given when the batch began. */
  let givenBefore = 0
  /** Whether what is open holds a part of a change that could not be taken back. */
  let broken = false
  const endings: Array<Ending> = []
  /** How much was left to the end before each savepoint that is open. */
  const marks: Array<ReadonlyArray<number>> = []

  const attempt = (work: () => unknown): Either.Either<unknown, SqlError.SqlError> =>
    Either.try({ try: work, catch: failure })
  const run = (text: string) => attempt(() => exec(text))

  /** Forgets what was left since a mark, or all of it. */
  const cut = (mark?: ReadonlyArray<number>): void => {
    endings.forEach((ending, index) => {
      ending.cut(mark?.[index] ?? 0)
    })
  }

  /** What even a rollback leaves open is no batch's: it is tried again before what comes next, which is no part of it. */
  const rollback = (): void => {
    cut()
    marks.length = 0
    if (database.inTransaction) run("ROLLBACK")
  }

  /** Ends a batch whose transaction is not open any more, or may not go on. */
  const fail = (lost: Batch, error: SqlError.SqlError): void => {
    batch = null
    broken = false
    // A commit that failed can leave its transaction open (sqlite.org/lang_transaction.html).
    rollback()
    Deferred.unsafeDone(lost, Exit.die(error))
  }

  /** Commits what is open, if anything is. Nobody is inside the gate but who calls it. */
  const commit = (): void => {
    if (batch === null) return rollback()
    const current = batch
    for (const ending of endings) {
      const done = attempt(ending.run)
      if (Either.isLeft(done)) return fail(current, done.left)
    }
    if (broken || !database.inTransaction) return fail(current, rolledBack())
    const committed = run("COMMIT")
    if (Either.isLeft(committed)) return fail(current, committed.left)
    batch = null
    Deferred.unsafeDone(current, Exit.void)
  }

  /** Whether the batch that is open takes no further change. */
  const isFull = (): boolean =>
    batch !== null && (rowsChanged() - changedBefore >= maxRows || bytesGiven() - givenBefore >= maxBytes)

  /**
   * The batch that is open, or a new one. It is committed after everybody who waits once the requests that have arrived are
   * read: those of one turn of the event loop come one after another, and each would be through before the next is seen. Nobody
   * is inside the gate but who calls it.
   */
  const join = (): Either.Either<Batch, SqlError.SqlError> => {
    if (isFull()) commit()
    if (batch !== null) return Either.right(batch)
    rollback()
    return Either.map(run("BEGIN IMMEDIATE"), () => {
      granted()
      changedBefore = rowsChanged()
      givenBefore = bytesGiven()
      setImmediate(() => {
        gate.whenFree(commit)
      })
      return (batch = Deferred.unsafeMake<void>(FiberId.none))
    })
  }

  /** As `join`; sockets have their turn before a batch that is full is committed. */
  const joinInTurn = Effect.suspend(() => (isFull() ? Effect.zipRight(turn, Effect.suspend(join)) : join()))

  /** A step of the open transaction; none where the engine has rolled that back by itself: it would be kept alone. */
  const stepOf = <A>(step: () => Either.Either<A, SqlError.SqlError>): Either.Either<A, SqlError.SqlError> =>
    database.inTransaction ? step() : Either.left(rolledBack())

  const within = <A>(step: () => Either.Either<A, SqlError.SqlError>) => Effect.suspend(() => stepOf(step))

  const begin = (savepoint: string) =>
    stepOf(() =>
      Either.map(
        attempt(() => prepared(`SAVEPOINT ${savepoint}`)),
        () => marks.push(endings.map((ending) => ending.size()))
      )
    )
  const release = (savepoint: string) =>
    Either.map(
      attempt(() => prepared(`RELEASE ${savepoint}`)),
      () => marks.pop()
    )

  /** Takes back what was changed since a savepoint. Where even that fails, nothing of the transaction may be kept. */
  const undo = (savepoint: string): void => {
    if (!database.inTransaction) return
    cut(marks.pop())
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

  /** Keeps what was changed since a savepoint, when that went well, or takes it back. */
  const settle = <A, E>(point: string, exit: Exit.Exit<A, E>): Exit.Exit<A, E> => {
    if (!database.inTransaction) return exit
    const released = Exit.isSuccess(exit) ? release(point) : null
    if (released !== null && Either.isRight(released)) return exit
    undo(point)
    return released === null ? exit : Exit.die(released.left)
  }

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
        (exit) => settle(point, exit)
      )
    })

  /** As `inside`, for a change that is one step. What it throws is a defect. */
  const insideNow = <A, E>(depth: number, step: () => Either.Either<A, E>): Exit.Exit<A, E | SqlError.SqlError> => {
    const point = `change_${depth}`
    const begun = begin(point)
    if (Either.isLeft(begun)) return Exit.fail(begun.left)
    const done = Either.try(step)
    return settle(
      point,
      Either.isLeft(done) ? Exit.die(done.left) : Either.match(done.right, { onLeft: Exit.fail, onRight: Exit.succeed })
    )
  }

  const nested = <A, E, R>(depth: number, change: Effect.Effect<A, E, R>) =>
    Effect.uninterruptibleMask((restore) => Effect.flatten(inside(depth, restore(change))))

  /** What a change in a batch came to, once it has ended. */
  const ended = <A, E>(mine: Batch, exit: Exit.Exit<A, E>) => {
    // The engine rolls everything back by itself when the disk is full or broken.
    if (broken || !database.inTransaction) fail(mine, reasonOf(exit))
    return { exit, mine }
  }

  // A refusal too: what it saw may be what others in its batch did, and has not happened when that is not kept.
  const told = <A, E>({ exit, mine }: { readonly exit: Exit.Exit<A, E>; readonly mine: Batch }) =>
    Effect.zipRight(Deferred.await(mine), exit)

  const grouped = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        gate.through(
          restore,
          Effect.flatMap(patiently(joinInTurn), (mine) =>
            Effect.map(inside(1, restore(change)), (exit) => ended(mine, exit))
          )
        ),
        told
      )
    )

  const groupedNow = <A, E>(step: () => Either.Either<A, E>): Effect.Effect<A, E | SqlError.SqlError> => {
    const changed = (mine: Batch) => ended(mine, insideNow(1, step))
    const waiting = (restore: Restore) => gate.through(restore, Effect.map(patiently(joinInTurn), changed))
    return Effect.uninterruptibleMask((restore) => {
      // Nothing comes between its parts: it needs the gate only where another change is in the middle of its own.
      if (!gate.isFree() || isFull()) return Effect.flatMap(waiting(restore), told)
      const now = Either.map(join(), changed)
      return Effect.flatMap(Either.isLeft(now) && isBusy(now.left) ? waiting(restore) : now, told)
    })
  }

  /** A change in the transaction that its fiber is in, or in the batch; with a span, where somebody traces. */
  const transacting = <A, E, R>(
    within: (depth: number) => Effect.Effect<A, E, R>,
    alone: () => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.withFiberRuntime((fiber) => {
      const outer = Context.getOption(fiber.currentContext, SqlClient.TransactionConnection)
      const changed = outer._tag === "Some" ? within(outer.value[1] + 1) : alone()
      return fiber.getFiberRef(FiberRef.currentTracerEnabled)
        ? Effect.withSpan(changed, "sql.transaction", {
            kind: "client",
            captureStackTrace: false,
            attributes: { "db.system.name": "sqlite" }
          })
        : changed
    })

  /** A statement fails where the engine has rolled the transaction back by itself: it would be kept alone. */
  const inTransaction: SqlConnection.Connection = {
    ...connection,
    execute: (text, parameters, transform) =>
      Effect.suspend(() =>
        database.inTransaction ? connection.execute(text, parameters, transform) : Effect.fail(rolledBack())
      )
  }

  const withTransaction = <A, E, R>(
    change: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | SqlError.SqlError, Exclude<R, Transaction>> =>
    Effect.flatMap(Effect.serviceOption(Transaction), (outer) =>
      withEndings(Option.getOrUndefined(outer), inTransaction, change, (body) =>
        transacting(
          (depth) => nested(depth, body),
          () => grouped(body)
        )
      )
    )

  /** As `withTransaction`, for a change that is one step. */
  const changeNow = <A, E>(step: () => Either.Either<A, E>): Effect.Effect<A, E | SqlError.SqlError> =>
    transacting(
      (depth) => Effect.suspend(() => insideNow(depth, step)),
      () => groupedNow(step)
    )

  /** A statement of no transaction; none where one is open that could not be ended: it would be lost with that. */
  const unbound = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.suspend((): Effect.Effect<A, E | SqlError.SqlError, R> =>
      database.inTransaction ? Effect.fail(rolledBack()) : statement
    )

  /** Runs what belongs to no transaction when none is open, and lets none begin meanwhile. */
  const alone = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.uninterruptibleMask((restore) =>
      gate.through(restore, Effect.zipRight(Effect.sync(commit), restore(patiently(unbound(statement)))))
    )

  /** As `alone`, for a single step: that needs no gate where nothing is open. */
  const outside = <A>(step: () => Either.Either<A, SqlError.SqlError>): Effect.Effect<A, SqlError.SqlError> =>
    Effect.suspend(() => {
      const done = batch === null && !database.inTransaction ? step() : null
      return done === null || (Either.isLeft(done) && isBusy(done.left)) ? alone(Effect.suspend(step)) : done
    })

  /** Whether a change could begin now, or has to wait for the lock of another connection for no longer than it may. */
  const isWritable = (): boolean => {
    if (batch !== null || database.inTransaction || !gate.isFree()) return !isExhausted()
    const begun = run("BEGIN IMMEDIATE")
    if (Either.isRight(begun)) {
      granted()
      run("ROLLBACK")
      return true
    }
    refused()
    return isBusy(begun.left) && !isExhausted()
  }

  /**
   * What a change leaves to the end of its batch, to be done once for all that is committed together; what is taken back leaves
   * nothing. It is done inside the transaction, and where it rolls that back nothing of the batch has happened.
   */
  const atCommit = <A>(finish: (left: ReadonlyArray<A>) => void) => {
    let left: Array<A> = []
    endings.push({
      size: () => left.length,
      cut: (size) => {
        left.length = size
      },
      run: () => {
        if (left.length === 0) return
        const all = left
        left = []
        finish(all)
      }
    })
    return (item: A): void => {
      left.push(item)
    }
  }

  return { withTransaction, changeNow, stepOf, within, savepoint, atCommit, alone, outside, isWritable } as const
}
