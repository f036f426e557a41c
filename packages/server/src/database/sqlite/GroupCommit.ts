import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as SqlError from "@effect/sql/SqlError"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { HoldsLock, urgentTick } from "../../base/EventLoop.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { isBusy } from "../../base/Reason.js"
import type { Restore } from "../../base/RestoreMask.js"
import { changing, settle } from "../Changing.js"
import { type Open, Transaction } from "../Database.js"
import { guardedConnection } from "../GuardedConnection.js"
import { beforeCommit } from "../Queues.js"
import { rolledBack } from "../SqlErrors.js"
import { Superseded } from "../Superseded.js"
import { makePatience } from "./Busy.js"
import { type Group, makeGroup } from "./Group.js"

/** A change of the group, or the group's own last statements. No other runs meanwhile. */
interface Inside {
  readonly _tag: "Inside"
  readonly group: Group
  readonly open: Open
  /** Drops what the change has queued. */
  readonly drop: () => void
  /** The error of the change. Its later statements fail too: SQLite may have rolled back and would commit them alone. */
  failure: SqlError.SqlError | null
  /** Whether a part of the change could not be rolled back. The group must not be committed then. */
  isBroken: boolean
}

/** The state of the writing connection. */
type State =
  | { readonly _tag: "Idle" }
  | { readonly _tag: "Open"; readonly group: Group }
  | Inside
  /** ROLLBACK failed. It is retried before the next statement, which must not join the old transaction. */
  | { readonly _tag: "Stuck" }
  | { readonly _tag: "Closed" }

/** Whether ROLLBACK failed because no transaction is open: SQLite has rolled it back already. */
const isNothingOpen = (error: SqlError.SqlError): boolean =>
  error.cause instanceof Error && error.cause.message.includes("no transaction is active")

/**
 * Group commit on the writing connection: one flush makes many changes durable. Each change has its own savepoint. Its
 * caller waits for the commit even after a typed error, because the error may depend on other changes of the group. Nothing is
 * committed into a file that is no longer the current one.
 */
export const groupCommit = (
  connection: SqlConnection.Connection,
  afterCommit: Effect.Effect<void> = Effect.void,
  isCurrent: () => boolean = () => true
) =>
  Effect.gen(function* () {
    /** The mutex of the writing connection. Only its holder changes the state, until the connection is closed. */
    const writer = makeFairSemaphore(sharedBounds.writer)
    const { granted, isExhausted, patiently, refused } = makePatience()
    const fork = yield* FiberSet.makeRuntime()
    let state: State = { _tag: "Idle" }

    const enter = (next: State): void => {
      if (state._tag !== "Closed") state = next
    }

    const isClosed = (): boolean => state._tag === "Closed"

    const run = (text: string) => connection.execute(text, [], undefined)

    const rollback = Effect.map(Effect.either(run("ROLLBACK")), (ended) => {
      enter({ _tag: Either.isRight(ended) || isNothingOpen(ended.left) ? "Idle" : "Stuck" })
    })

    /** Rolls back a whole group, and fails all its changes. */
    const abandon = ({ done }: Group, error: unknown) =>
      Effect.map(rollback, () => {
        Deferred.unsafeDone(done, Exit.die(error))
      })

    /**
     * Rolls back to a savepoint. Statements may run again afterwards. If that fails, the whole group must be rolled back. A fiber
     * that outlives its change undoes nothing: another change may have a savepoint of that name.
     */
    const undo = (inside: Inside, savepoint: string, release?: string) =>
      Effect.suspend(() =>
        state !== inside
          ? Effect.void
          : Effect.match(
              Effect.zipRight(run(`ROLLBACK TO ${savepoint}`), release === undefined ? Effect.void : run(release)),
              {
                onFailure: (error) => {
                  inside.failure ??= error
                  inside.isBroken = true
                },
                onSuccess: () => {
                  if (!inside.isBroken) inside.failure = null
                }
              }
            )
      )

    /** Returns the state of a change, whose connection refuses statements after a failed one, and after its end. */
    const makeInside = (group: Group): Inside => {
      const guarded = guardedConnection(connection, {
        refusal: (parameters) => {
          if (state !== inside) return rolledBack
          if (inside.failure === null) group.add(parameters)
          return inside.failure
        },
        onFailure: (error) => {
          inside.failure = error
        }
      })
      const open: Open = {
        connection: guarded,
        send: (text, values) => guarded.execute(text, values, undefined),
        ask: (text, values) => guarded.execute(text, values, undefined),
        // The answer of a statement is there when it has run.
        ahead: () => undefined,
        settled: Effect.void,
        // It needs no release: ROLLBACK TO takes the newest savepoint of a name.
        savepoint: (depth) =>
          Effect.as(guarded.execute(`SAVEPOINT part_${depth}`, [], undefined), {
            release: Effect.void,
            undo: undo(inside, `part_${depth}`)
          }),
        endings: [],
        queues: group.queues
      }
      const inside: Inside = {
        _tag: "Inside",
        group,
        open,
        drop: group.queues.mark(),
        failure: null,
        isBroken: false
      }
      return inside
    }

    /** Commits the open group, if there is one. Call while holding the writer. */
    const commitGroup: Effect.Effect<void> = Effect.suspend(() => {
      if (state._tag === "Stuck") return rollback
      if (state._tag !== "Open") return Effect.void
      const { group } = state
      const inside = makeInside(group)
      enter(inside)
      const pause = group.isLarge() ? urgentTick : Effect.void
      const queued = Effect.mapInputContext(group.queues.run, (context: Context.Context<never>) =>
        Context.add(Context.add(context, HoldsLock, true), Transaction, [inside.open, 0])
      )
      return queued.pipe(
        Effect.zipRight(pause),
        Effect.zipRight(
          Effect.suspend(() =>
            isCurrent() ? inside.open.connection.execute("COMMIT", [], undefined) : Effect.die(new Superseded())
          )
        ),
        Effect.exit,
        Effect.flatMap((committed) => {
          const settled = settle(inside.open.endings.splice(0), committed)
          if (Exit.isFailure(committed)) {
            return Effect.zipRight(abandon(group, Cause.squash(committed.cause)), settled)
          }
          enter({ _tag: "Idle" })
          Deferred.unsafeDone(group.done, Exit.void)
          return Effect.zipRight(Effect.zipRight(settled, pause), afterCommit)
        })
      )
    })

    /**
     * Opens a group. Its commit is queued on the next tick, behind all changes that wait. Requests of one tick arrive one after
     * another, and each would otherwise be committed alone.
     */
    const openGroup = Effect.gen(function* () {
      if (state._tag === "Stuck") yield* rollback
      yield* patiently(run("BEGIN IMMEDIATE"))
      granted()
      setImmediate(() => fork(writer.inside(Effect.uninterruptible(commitGroup), true)))
      return makeGroup(yield* Clock.currentTimeMillis)
    })

    /** Begins a change in the open group or a new one. Call while holding the writer. */
    const begin = Effect.gen(function* () {
      if (isClosed()) return yield* rolledBack
      // Let sockets and timers run before the long commit of a full group.
      if (state._tag === "Open" && state.group.isFull()) yield* Effect.zipRight(urgentTick, commitGroup)
      const group = state._tag === "Open" ? state.group : yield* openGroup
      // SQLite may have rolled back the whole group.
      yield* Effect.tapError(run("SAVEPOINT change"), (error) => abandon(group, error))
      if (isClosed()) return yield* Effect.zipRight(abandon(group, rolledBack), rolledBack)
      const inside = makeInside(group)
      enter(inside)
      return inside
    })

    /** Keeps a change in its group, or rolls it back. Returns its exit, which stands once the group is committed. */
    const end = <A, E>(inside: Inside, changed: Exit.Exit<A, E>) =>
      Effect.gen(function* () {
        const { group, open } = inside
        // Refused if a statement has failed.
        const release = Effect.orDie(open.connection.execute("RELEASE change", [], undefined))
        const exit = Exit.isSuccess(changed) ? yield* Effect.exit(Effect.as(release, changed.value)) : changed
        if (Exit.isFailure(exit)) {
          inside.drop()
          yield* undo(inside, "change", "RELEASE change")
        }
        if (state !== inside) return exit
        if (inside.isBroken) {
          yield* abandon(group, inside.failure ?? rolledBack)
          return exit
        }
        enter({ _tag: "Open", group })
        // A group that others wait for is committed at once. They would run in one tick otherwise, however many they are.
        if (group.isOld(yield* Clock.currentTimeMillis)) yield* Effect.zipRight(commitGroup, urgentTick)
        return exit
      })

    const held = <A, E, R>(restore: Restore, change: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const inside = yield* Effect.orDie(begin)
        const { group, open } = inside
        const changed = yield* Effect.exit(Effect.provideService(restore(change), Transaction, [open, 0]))
        return { exit: yield* end(inside, changed), group, open } as const
      })

    /** Runs a change while holding the writer, lets the next one write, and waits for the commit of the group. */
    const outermost = <A, E, R>(change: Effect.Effect<A, E, R>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const leave = yield* writer.enter(restore)
          const { exit, group, open } = yield* Effect.ensuring(held(restore, change), leave)
          const ended = Exit.zipRight(yield* Effect.exit(Deferred.await(group.done)), exit)
          yield* settle(open.endings.splice(0), ended)
          return yield* ended
        })
      )

    /** Implements `SqliteWriter.alone`. */
    const alone = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      writer.inside(
        Effect.zipRight(
          Effect.uninterruptible(commitGroup),
          Effect.suspend(() => (state._tag === "Stuck" ? Effect.fail(rolledBack) : patiently(effect)))
        )
      )

    /** Whether changes can be made. Tries to begin a transaction, unless one is open or about to begin. */
    const isWritable = Effect.suspend(() => {
      if (state._tag === "Open" || !writer.isFree()) return Effect.sync(() => !isExhausted())
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
        const last = state
        state = { _tag: "Closed" }
        return last._tag === "Open" || last._tag === "Inside" ? abandon(last.group, rolledBack) : Effect.void
      })
    )

    // The writer is alone, so it holds every scope.
    return {
      ...changing("sqlite", (_scopes, change) => outermost(change)),
      beforeCommit,
      isAwaited: writer.isAwaited,
      alone,
      isWritable
    } as const
  })
