import { SqlClient, type SqlConnection, type SqlError } from "@effect/sql"
import { Cause, Clock, Deferred, Effect, Exit, FiberSet, Option } from "effect"
import { holdingLock, nextTick } from "../../base/EventLoop.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { type Open, Transaction } from "../Database.js"
import { isBusy } from "../../base/Reason.js"
import { makePatience } from "./Busy.js"
import { isSqlError, rolledBack } from "../SqlErrors.js"
import { type Group, makeGroup } from "./Group.js"
import { guardedConnection } from "../GuardedConnection.js"
import { makeQueues } from "./Queues.js"

/** Whether ROLLBACK failed because no transaction is open: SQLite has rolled it back already. */
const isNothingOpen = (error: SqlError.SqlError): boolean =>
  error.cause instanceof Error && error.cause.message.includes("no transaction is active")

/**
 * Group commit on the writing connection: one flush makes many changes durable. Each change has its own savepoint. Its
 * caller waits for the commit even after a typed error, because the error may depend on other changes of the group.
 */
export const groupCommit = (connection: SqlConnection.Connection, afterCommit: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    /** The mutex of the writing connection. */
    const writer = makeFairSemaphore({ permits: 1 })
    /** Lets the next one write. */
    let leaveWriter: Effect.Effect<void> = Effect.void
    const { granted, isExhausted, patiently, refused } = makePatience()
    const fork = yield* FiberSet.makeRuntime()
    const queues = makeQueues()
    let group: Group | null = null
    /** The change that holds the writer. */
    let inside: Open | null = null
    /** The error of that change. Its later statements fail too: SQLite may have rolled back and would commit them alone. */
    let failure: SqlError.SqlError | null = null
    /** Whether a part of a change could not be rolled back. The group must not be committed then. */
    let isBroken = false
    /** Whether ROLLBACK failed. It is retried before the next statement, which must not join the old transaction. */
    let isStuck = false
    let isClosed = false

    const run = (text: string) => connection.execute(text, [], undefined)

    /** Returns a change whose connection refuses statements before it begins, after a failed one, and after its end. */
    const makeOpen = (): Open => {
      const guarded = guardedConnection(connection, {
        refusal: (parameters) => {
          if (inside !== open || group === null) return rolledBack
          if (failure === null) group.add(parameters)
          return failure
        },
        onFailure: (error) => {
          failure = error
        }
      })
      const open: Open = {
        endings: [],
        connection: guarded,
        send: (text, values) => guarded.execute(text, values, undefined),
        settled: Effect.void
      }
      return open
    }

    const rollback = Effect.flatMap(Effect.either(run("ROLLBACK")), (ended) =>
      Effect.sync(() => {
        isStuck = ended._tag === "Left" && !isNothingOpen(ended.left)
      })
    )

    /** Rolls back a whole group, and fails all its changes. */
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

    /** Runs the hooks of a change with its exit. */
    const settle = ({ endings }: Open, exit: Exit.Exit<unknown, unknown>) =>
      Effect.forEach(endings.splice(0), (ending) => ending(exit), { discard: true })

    /** Commits the open group, if there is one. Call while holding the writer. */
    const commitGroup: Effect.Effect<void> = Effect.suspend(() => {
      const current = group
      if (current === null) return isStuck ? rollback : Effect.void
      const open = makeOpen()
      inside = open
      failure = null
      const pause = current.isLarge() ? nextTick : Effect.void
      return Effect.provideService(queues.run, Transaction, [open, 0]).pipe(
        Effect.zipRight(pause),
        Effect.zipRight(Effect.suspend(() => (failure === null ? run("COMMIT") : Effect.fail(failure)))),
        Effect.exit,
        Effect.flatMap((committed) => {
          inside = null
          const settled = settle(open, committed)
          if (Exit.isFailure(committed))
            return Effect.zipRight(abandon(current, Cause.squash(committed.cause)), settled)
          group = null
          Deferred.unsafeDone(current.done, Exit.void)
          return Effect.zipRight(Effect.zipRight(settled, pause), afterCommit)
        }),
        holdingLock
      )
    })

    /** Changes that wait for each other run in one tick otherwise, however many they are. */
    const commitAndPause = Effect.zipRight(commitGroup, holdingLock(nextTick))

    /**
     * Opens a group. Its commit is queued on the next tick, behind all changes that wait. Requests of one tick arrive one after
     * another, and each would otherwise be committed alone.
     */
    const openGroup = Effect.suspend(() => (isStuck ? rollback : Effect.void)).pipe(
      Effect.zipRight(patiently(run("BEGIN IMMEDIATE"))),
      Effect.zipRight(Clock.currentTimeMillis),
      Effect.map((millis) => {
        granted()
        group = makeGroup(millis)
        setImmediate(() => fork(writer.inside(Effect.uninterruptible(commitGroup), true)))
        return group
      })
    )

    const begin = (open: Open) =>
      Effect.gen(function* () {
        if (isClosed) return yield* rolledBack
        // Let sockets and timers run before the long commit of a full group.
        if (group?.isFull() === true) yield* Effect.zipRight(holdingLock(nextTick), commitGroup)
        if (group === null) yield* openGroup
        // SQLite may have rolled back the whole group.
        yield* Effect.tapError(run("SAVEPOINT change"), (error) =>
          group === null ? Effect.void : abandon(group, error)
        )
        queues.mark(0)
        failure = null
        inside = open
      })

    /** Runs a statement of a rollback. If it fails, the whole group must be rolled back. */
    const undoStep = (text: string) =>
      Effect.match(run(text), {
        onFailure: (error) => {
          failure ??= error
          isBroken = true
        },
        onSuccess: () => undefined
      })

    /** Rolls back to the savepoint of a depth. Statements may run again afterwards. */
    const undo = (savepoint: string, depth: number) =>
      Effect.suspend(() => {
        queues.cut(depth)
        return Effect.map(undoStep(`ROLLBACK TO ${savepoint}`), () => {
          if (!isBroken) failure = null
        })
      })

    const undoChange = Effect.zipRight(undo("change", 0), undoStep("RELEASE change"))

    /** Lets the next one write, and waits for the commit of the group. A group that others wait for is committed at once. */
    const leave = Effect.suspend(() => {
      const current = group
      if (inside === null || current === null) return leaveWriter
      const ended = isBroken
        ? abandon(current, failure ?? rolledBack)
        : Effect.flatMap(Clock.currentTimeMillis, (millis) => (current.isOld(millis) ? commitAndPause : Effect.void))
      inside = null
      failure = null
      return ended.pipe(
        Effect.zipRight(Effect.suspend(() => leaveWriter)),
        Effect.zipRight(Deferred.await(current.done))
      )
    })

    /** Releases the savepoint of a change, or rolls the change back if a statement of it has failed. */
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
          // The toolkit's ROLLBACK TO would otherwise hit an earlier savepoint of the same name.
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

    /** Runs a nested transaction. If it is rolled back, its hooks get its exit instead of the whole change's. */
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

    /** Implements `Database.transaction`. */
    const transaction = <A, E, R>(change: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Transaction>> => {
      const proven = Effect.flatMap(Effect.serviceOption(Transaction), (opened) =>
        Option.isSome(opened)
          ? Effect.provideService(change, Transaction, opened.value)
          : Effect.dieMessage("a transaction was opened without its proof")
      )
      return Effect.flatMap(Effect.serviceOption(Transaction), (outer) =>
        Option.isSome(outer)
          ? part(outer.value[0], proven)
          : Effect.uninterruptibleMask((restore) =>
              Effect.flatMap(writer.enter(restore), (left) => {
                leaveWriter = left
                return grouped(restore(holdingLock(proven)))
              })
            )
      ).pipe(Effect.catchIf(isSqlError, Effect.die))
    }

    /** Implements `SqliteWriter.alone`. */
    const alone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      writer.inside(
        Effect.zipRight(
          Effect.uninterruptible(commitGroup),
          Effect.suspend(() => (isStuck ? Effect.fail(rolledBack) : patiently(effect)))
        )
      )

    /** Whether changes can be made. Tries to begin a transaction, unless one is open or about to begin. */
    const isWritable = Effect.suspend(() => {
      if (group !== null || !writer.isFree()) return Effect.sync(() => !isExhausted())
      return writer.inside(
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

    // Fail the changes that are not committed when the connection is closed: their callers must not see a success.
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        isClosed = true
        return group === null ? Effect.void : abandon(group, rolledBack)
      })
    )

    return { transaction, beforeCommit: queues.beforeCommit, alone, isWritable } as const
  })
