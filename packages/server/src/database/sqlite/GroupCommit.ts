import { SqlClient, type SqlConnection, SqlError } from "@effect/sql"
import { Cause, Deferred, Effect, Exit, FiberId, FiberSet, Option } from "effect"
import { nextTick } from "../../EventLoop.js"
import { type Open, Transaction } from "../Database.js"
import { isBusy } from "../Reason.js"
import { makePatience } from "./Busy.js"
import { isSqlError } from "../SqlErrors.js"
import { makeMutex } from "./Mutex.js"
import { makeQueues } from "./Queues.js"

/** What is committed together: done once that is on disk. */
interface Group {
  readonly done: Deferred.Deferred<void>
  statements: number
  bytes: number
}

/** A group that was given so many statements or bytes takes no further change: a commit writes all of them at once. */
const maxStatements = 1_000
const maxBytes = 1024 * 1024
const largeBytes = 128 * 1024

const rolledBack = new SqlError.SqlError({
  cause: new Error("the transaction was rolled back"),
  message: "Failed to execute statement"
})

/** What the engine says to a rollback where nothing is open: it has rolled back by itself. */
const isNothingOpen = (error: SqlError.SqlError): boolean =>
  error.cause instanceof Error && error.cause.message.includes("no transaction is active")

const sizeOf = (parameters: ReadonlyArray<unknown>): number => {
  let size = 0
  for (const parameter of parameters) {
    if (typeof parameter === "string" || parameter instanceof Uint8Array) size += parameter.length
  }
  return size
}

/**
 * Group commit on the one connection that writes: changes that wait for their turn at the same time are committed together. Each
 * is a savepoint of its own, is rolled back alone, and is told how it went only when the commit that holds it is on disk: to
 * wait for the disk is most of a write, so many at once cost little more than one. A refusal is told then too, for it may
 * rest on what others in its group did. When a commit fails, each change in it fails and is rolled back. After a failed flush
 * that is certain only while this process lives: frames of the log that have reached the disk can be found by the next one
 * after a crash.
 *
 * Statements of a transaction that has failed fail until it is rolled back, as on PostgreSQL: SQLite rolls a whole transaction
 * back by itself when the disk is full or broken, and would keep alone what comes after that.
 */
export const groupCommit = (connection: SqlConnection.Connection, afterCommit: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const mutex = makeMutex()
    const { granted, isExhausted, patiently, refused } = makePatience()
    const fork = yield* FiberSet.makeRuntime()
    const queues = makeQueues()
    let group: Group | null = null
    /** The change that is inside the mutex. */
    let inside: Open | null = null
    /** Why the statements of that change fail. */
    let failure: SqlError.SqlError | null = null
    /** Whether the group holds a part of a change that could not be rolled back. */
    let isBroken = false
    /** Whether a transaction may be open that nobody is in, because it could not be rolled back. */
    let isStuck = false
    let isClosed = false

    const run = (text: string) => connection.execute(text, [], undefined)

    /** The connection as one change sees it: of no use before it begins, after it has failed, and when it has ended. */
    const makeOpen = (): Open => {
      const guarded =
        (run: SqlConnection.Connection["execute"]): SqlConnection.Connection["execute"] =>
        (text, parameters, transform) =>
          Effect.suspend(() => {
            if (inside !== open || group === null) return Effect.fail(rolledBack)
            if (failure !== null) return Effect.fail(failure)
            group.statements++
            group.bytes += sizeOf(parameters)
            return Effect.tapError(run(text, parameters, transform), (error) =>
              Effect.sync(() => {
                failure = error
              })
            )
          })
      const open: Open = {
        endings: [],
        connection: {
          ...connection,
          execute: guarded(connection.execute),
          executeUnprepared: guarded(connection.executeUnprepared)
        }
      }
      return open
    }

    const rollback = Effect.flatMap(Effect.either(run("ROLLBACK")), (ended) =>
      Effect.sync(() => {
        isStuck = ended._tag === "Left" && !isNothingOpen(ended.left)
      })
    )

    /** Rolls a group back whole, and fails all changes in it. */
    const abandon = (lost: Group, error: unknown) =>
      Effect.suspend(() => {
        group = null
        isBroken = false
        queues.clear()
        return Effect.zipRight(
          rollback,
          Effect.sync(() => {
            Deferred.unsafeDone(lost.done, Exit.die(error))
          })
        )
      })

    /** Commits the group that is open, if one is. Belongs inside the mutex. */
    const commitGroup: Effect.Effect<void> = Effect.suspend(() => {
      const current = group
      if (current === null) return isStuck ? rollback : Effect.void
      const open = makeOpen()
      inside = open
      failure = null
      // What the disk is given at once is long enough to be a turn of its own.
      const pause = current.bytes < largeBytes ? Effect.void : nextTick
      return Effect.provideService(queues.run, Transaction, [open, 0]).pipe(
        Effect.zipRight(pause),
        Effect.zipRight(Effect.suspend(() => (failure === null ? run("COMMIT") : Effect.fail(failure)))),
        Effect.exit,
        Effect.flatMap((committed) => {
          inside = null
          if (Exit.isFailure(committed)) return abandon(current, Cause.squash(committed.cause))
          group = null
          Deferred.unsafeDone(current.done, Exit.void)
          return Effect.zipRight(pause, afterCommit)
        })
      )
    })

    const isFull = (): boolean => group !== null && (group.statements >= maxStatements || group.bytes >= maxBytes)

    /**
     * Opens a group. It is committed after all that wait once the requests that have arrived are read: those of one turn of the
     * event loop come one after another, and each would be through before the next is seen.
     */
    const openGroup = Effect.suspend(() => (isStuck ? rollback : Effect.void)).pipe(
      Effect.zipRight(patiently(run("BEGIN IMMEDIATE"))),
      Effect.map(() => {
        granted()
        group = { done: Deferred.unsafeMake(FiberId.none), statements: 0, bytes: 0 }
        setImmediate(() => fork(mutex.inside(Effect.uninterruptible(commitGroup))))
        return group
      })
    )

    const begin = (open: Open) =>
      Effect.gen(function* () {
        if (isClosed) return yield* rolledBack
        // Sockets have their turn before a full group is committed.
        if (isFull()) yield* Effect.zipRight(nextTick, commitGroup)
        if (group === null) yield* openGroup
        // The engine may have rolled the group back with it.
        yield* Effect.tapError(run("SAVEPOINT change"), (error) =>
          group === null ? Effect.void : abandon(group, error)
        )
        queues.mark(0)
        failure = null
        inside = open
      })

    /** Runs a statement that rolls back; where that fails, nothing of the group may be kept. */
    const takingBack = (text: string) =>
      Effect.match(run(text), {
        onFailure: (error) => {
          failure ??= error
          isBroken = true
        },
        onSuccess: () => undefined
      })

    /** Rolls back to the savepoint at a depth, after which statements may go on. */
    const undo = (savepoint: string, depth: number) =>
      Effect.suspend(() => {
        queues.cut(depth)
        return Effect.map(takingBack(`ROLLBACK TO ${savepoint}`), () => {
          if (!isBroken) failure = null
        })
      })

    const undoChange = Effect.zipRight(undo("change", 0), takingBack("RELEASE change"))

    /** Leaves the mutex, and waits for the group. */
    const leave = Effect.suspend(() => {
      const current = group
      if (inside === null || current === null) return mutex.leave
      const ended = isBroken ? abandon(current, failure ?? rolledBack) : Effect.void
      inside = null
      failure = null
      return Effect.zipRight(Effect.zipRight(ended, mutex.leave), Deferred.await(current.done))
    })

    /** Runs what was left to the end of a change, which has ended so. */
    const settle = ({ endings }: Open, exit: Exit.Exit<unknown, unknown>) =>
      Effect.forEach(endings.splice(0), (ending) => ending(exit), { discard: true })

    /** Keeps a change, unless a statement of it has failed, or rolls it back. */
    const release = Effect.suspend(() => {
      const kept = failure === null && !isBroken ? run("RELEASE change") : Effect.fail(failure ?? rolledBack)
      return Effect.tapError(kept, () => undoChange)
    })

    const grouped = SqlClient.makeWithTransaction({
      transactionTag: Transaction,
      spanAttributes: [["db.system.name", "sqlite"]],
      acquireConnection: Effect.sync(() => [undefined, makeOpen()] as const),
      begin,
      commit: (open) =>
        Effect.exit(release).pipe(
          Effect.flatMap((released) => Effect.exit(Effect.zipRight(leave, released))),
          Effect.flatMap((exit) => Effect.zipRight(settle(open, exit), Effect.asVoid(exit)))
        ),
      rollback: (open) =>
        Effect.suspend(() => (inside === null ? Effect.void : undoChange)).pipe(
          Effect.zipRight(Effect.exit(leave)),
          Effect.flatMap((exit) => Effect.zipRight(settle(open, Exit.fail("rolled back")), exit))
        ),
      savepoint: ({ connection }, depth) =>
        Effect.tapBoth(connection.execute(`SAVEPOINT part_${depth}`, [], undefined), {
          // The rollback that follows would go to an earlier part of that name.
          onFailure: () =>
            Effect.sync(() => {
              isBroken = true
            }),
          onSuccess: () =>
            Effect.sync(() => {
              queues.mark(depth)
            })
        }),
      rollbackSavepoint: (_open, depth) => undo(`part_${depth}`, depth)
    })

    /** What a part has left to the end goes by how the part ended, where that was rolled back. */
    const part = <A, E, R>({ endings }: Open, change: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const before = endings.length
        return Effect.onExit(grouped(change), (exit) =>
          Effect.sync(() => {
            if (Exit.isSuccess(exit)) return
            for (const ending of endings.splice(before)) endings.push(() => ending(exit))
          })
        )
      })

    /** Runs an effect as one transaction: see `Database`. A failure of the database is a defect. */
    const transaction = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Transaction>> => {
      const proven = Effect.flatMap(Effect.serviceOption(Transaction), (opened) =>
        Option.isSome(opened)
          ? Effect.provideService(change, Transaction, opened.value)
          : Effect.dieMessage("a transaction was opened without its proof")
      )
      return Effect.flatMap(Effect.serviceOption(Transaction), (outer) =>
        Option.isSome(outer)
          ? part(outer.value[0], proven)
          : Effect.uninterruptibleMask((restore) => Effect.zipRight(mutex.enter(restore), grouped(restore(proven))))
      ).pipe(Effect.catchIf(isSqlError, Effect.die))
    }

    /** Runs what belongs to no transaction while none is open, and lets none begin meanwhile. */
    const alone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      mutex.inside(
        Effect.zipRight(
          Effect.uninterruptible(commitGroup),
          Effect.suspend(() => (isStuck ? Effect.fail(rolledBack) : patiently(effect)))
        )
      )

    /** Whether a change could begin now, or has to wait for the lock of another program for no longer than it may. */
    const isWritable = Effect.suspend(() => {
      if (group !== null || !mutex.isFree()) return Effect.sync(() => !isExhausted())
      return mutex.inside(
        Effect.matchEffect(run("BEGIN IMMEDIATE"), {
          onFailure: (error) =>
            Effect.sync(() => {
              refused()
              return isBusy(error) && !isExhausted()
            }),
          onSuccess: () => {
            granted()
            return Effect.as(rollback, true)
          }
        })
      )
    })

    // What is not committed when the connection is closed is told to nobody as done.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return group === null ? Effect.void : abandon(group, rolledBack)
      })
    )

    return { transaction, beforeCommit: queues.beforeCommit, alone, isWritable } as const
  })
