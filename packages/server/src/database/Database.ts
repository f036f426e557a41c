import type * as SqlConnection from "@effect/sql/SqlConnection"
import type * as SqlError from "@effect/sql/SqlError"
import type * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { withService } from "../base/WithService.js"
import type { Scope } from "./Scopes.js"
import type { Succession } from "./Superseded.js"
import type { Template } from "./Template.js"

/** A hook that runs after a transaction has ended, with its exit, before the transaction returns to its caller. */
export type Ending = (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>

/** The failure of a statement. */
export type StatementError = SqlError.SqlError

/** Items that wait for one `append`. */
export interface Queue {
  readonly size: () => number
  readonly cut: (size: number) => void
  readonly run: Effect.Effect<void, never, Transaction>
}

/** The items that a transaction, or the transactions of a group commit, queue until the commit. */
export interface Queues {
  readonly add: (queue: Queue) => void
  /** Returns a function that drops the items queued from now on. */
  readonly mark: () => () => void
  /** Writes the queued items, of which `append` functions may queue more. */
  readonly run: Effect.Effect<void, never, Transaction>
}

/** The connection of an open transaction, and the hooks to run at its end. */
export interface Open {
  readonly connection: SqlConnection.Connection
  /**
   * Runs a statement that returns no rows. An engine may return before the statement ran: its failure then fails a later
   * statement, `settled` or the commit.
   */
  readonly send: (text: string, values: ReadonlyArray<unknown>) => Effect.Effect<unknown, StatementError>
  /** Runs a statement that writes or locks, and returns its rows. */
  readonly ask: (text: string, values: ReadonlyArray<unknown>) => Effect.Effect<unknown, StatementError>
  /**
   * Sends a read before its answer is needed. The same read takes the answer, unless the transaction has written or locked
   * something since. An engine may do nothing.
   */
  readonly ahead: (text: string, values: ReadonlyArray<unknown>) => void
  /** Waits until all sent statements ran. Fails with the first failure. */
  readonly settled: Effect.Effect<void, StatementError>
  /** Sets a savepoint, and returns how to keep and how to undo what follows it. */
  readonly savepoint: (
    depth: number
  ) => Effect.Effect<
    { readonly release: Effect.Effect<void, StatementError>; readonly undo: Effect.Effect<void, StatementError> },
    StatementError
  >
  readonly endings: Array<Ending>
  /** The items that are queued until the commit. */
  readonly queues: Queues
}

/**
 * Proof that a transaction is open. Every statement that writes requires this service, so a write outside a transaction
 * does not compile. Holds the open transaction and its nesting depth.
 */
export class Transaction extends Context.Tag("@coffer/server/Database/Transaction")<
  Transaction,
  readonly [open: Open, depth: number]
>() {}

/** The connection of an open snapshot. */
export class Snapshot extends Context.Tag("@coffer/server/Database/Snapshot")<Snapshot, SqlConnection.Connection>() {}

/** The connection of the open transaction or snapshot of a fiber, or else another one. */
export const connectionIn = (
  context: Context.Context<never>,
  otherwise: SqlConnection.Connection
): SqlConnection.Connection =>
  Option.match(Context.getOption(context, Transaction), {
    onSome: ([{ connection }]) => connection,
    onNone: () => Option.getOrElse(Context.getOption(context, Snapshot), () => otherwise)
  })

/** Whether a transaction or a snapshot is open, which a nested snapshot reuses. */
export const isInside = (context: Context.Context<never>): boolean =>
  Option.isSome(Context.getOption(context, Transaction)) || Option.isSome(Context.getOption(context, Snapshot))

/** How many connections of a pool are in use or free, and how many requests wait for one. */
export interface PoolState {
  readonly used: number
  readonly idle: number
  readonly waiting: number
}

/**
 * The database as the features see it, independent of the engine. A failure of the database itself is a defect. A typed
 * error rolls the transaction back and reaches the caller.
 */
export class Database extends Context.Tag("@coffer/server/Database")<
  Database,
  {
    /** The engine's name in traces. */
    readonly system: string
    /** The schema version of this program. */
    readonly schema: number
    /** Whether other servers may use the database at the same time. */
    readonly isShared: boolean
    /** The time in milliseconds since 1970, by a clock that all servers of the database share. */
    readonly clock: Effect.Effect<number>
    /** The state of the pool of connections; null for an engine without one. */
    readonly pool: (() => PoolState) | null
    /** Whether transactions wait for a connection: then long work in the background writes in smaller parts. */
    readonly isAwaited: () => boolean
    /** Returns a statement in the engine's form. */
    readonly textOf: (statement: Template) => string
    /**
     * The expression of the current time in milliseconds since 1970, by the clock that all servers share; NULL for an engine
     * that one server uses at a time.
     */
    readonly clockExpression: string
    /** The expression of the size of the database in bytes. */
    readonly sizeExpression: string
    /** The condition that the server of a row of `instances` may have a session at the database. */
    readonly mayHaveSession: string
    /** Whether a join may be LATERAL. */
    readonly hasLateral: boolean
    /** The clause of a SELECT that locks its rows; null for an engine that runs one transaction at a time. */
    readonly rowLock: string | null
    /** The read-only connection for statements outside of transactions and snapshots. */
    readonly reading: SqlConnection.Connection
    /**
     * Runs an effect as one transaction that holds scopes: no other change of a scope runs from before the first read until the
     * end, on any server. A nested one is a savepoint of the outer one, which must hold its scopes.
     */
    readonly change: <A, E, R>(
      scopes: ReadonlyArray<Scope>,
      effect: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E, Exclude<R, Transaction>>
    /** Runs an effect as one atomic transaction, durable on return. A nested one is a savepoint of the outer one. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Transaction>>
    /**
     * Returns a function that queues an item until the open transaction commits. `append` then writes the queued items
     * of all transactions in the group commit at once. A rollback drops its items.
     */
    readonly beforeCommit: <A>(
      append: (items: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, Transaction>
    ) => (item: A) => Effect.Effect<void, never, Transaction>
    /**
     * Makes transactions that lock the same name wait for each other until they end: for rules about rows that do not
     * exist yet. An engine that runs one transaction at a time does nothing.
     */
    readonly lock: (name: string) => Effect.Effect<void, never, Transaction>
    /**
     * Runs reads that all see the same snapshot of the database. Within a transaction it is the transaction: it sees its own
     * writes, and others cannot write meanwhile what its scopes cover.
     */
    readonly snapshot: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Why the server cannot serve, or null if it can. */
    readonly unready: Effect.Effect<string | null>
    /** The engine's own maintenance, run hourly. */
    readonly maintain: Effect.Effect<void>
    /** Waits until the database has gone on without this process, which must end then. Returns what happened. */
    readonly superseded: Effect.Effect<Succession>
  }
>() {}

/** Waits until all statements of the open transaction ran. A failure of one is a defect. */
export const settled = withService(Transaction, ([open]) => Effect.orDie(open.settled))

const atEnd = (ending: Ending): Effect.Effect<void, never, Transaction> =>
  withService(Transaction, ([{ endings }]) => {
    endings.push(ending)
    return Effect.void
  })

/**
 * Runs a transaction, then the effect that it returned. A transaction that returns a failure, instead of failing with it,
 * commits what it wrote, such as the count of an attempt.
 */
export const outcomeOf = <A, E1, E, R>(
  transaction: Effect.Effect<Effect.Effect<A, E1>, E, R>
): Effect.Effect<A, E | E1, R> => Effect.flatten(transaction)

/** Runs an effect after the open transaction has ended, also after a rollback. */
export const afterwards = (effect: Effect.Effect<void>) => atEnd(() => effect)

/**
 * Runs an effect after the open transaction has committed, and not after a rollback. A failure is only logged: if the
 * request failed, the caller would believe that the committed change was not made.
 */
export const afterCommit = (effect: Effect.Effect<void>) =>
  atEnd((exit) =>
    exit._tag === "Success"
      ? Effect.catchAllCause(effect, (cause) =>
          Effect.logError("a change is committed, but a step after its commit failed", cause)
        )
      : Effect.void
  )
