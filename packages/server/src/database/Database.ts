import type { SqlConnection } from "@effect/sql"
import { type Array, Context, Effect, type Exit } from "effect"

/** What a transaction leaves to its end: given how it ended, run before its caller is told. */
export type Ending = (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>

/** The connection of an open transaction, and what is left to its end. */
export interface Open {
  readonly connection: SqlConnection.Connection
  readonly endings: Array<Ending>
}

/**
 * The proof that a transaction is open: every statement that writes asks for it, so that a write outside of one does not
 * compile. It holds what is open and how deep it is nested.
 */
export class Transaction extends Context.Tag("@coffer/server/Transaction")<
  Transaction,
  readonly [open: Open, depth: number]
>() {}

/** The connection of an open snapshot. */
export class Snapshot extends Context.Tag("@coffer/server/Snapshot")<Snapshot, SqlConnection.Connection>() {}

/**
 * The database as the features see it, whatever engine holds it. A failure of the database itself is a defect; what a rule
 * refuses rolls the transaction back and goes on to the caller.
 */
export class Database extends Context.Tag("@coffer/server/Database")<
  Database,
  {
    /** The engine's name in traces. */
    readonly system: string
    /** How the engine writes the parameter of a statement at a position, from 0 on. */
    readonly placeholder: (position: number) => string
    /** The clause behind a table that makes the engine use an index; nothing for an engine that takes no hints. */
    readonly indexHint: (index: string) => string
    /** Where statements are run that belong to no transaction and no snapshot: they read. */
    readonly reading: SqlConnection.Connection
    /** Runs an effect as one transaction: all of it or nothing, and on disk when it returns. Inside another one it is a part of that. */
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, Exclude<R, Transaction>>
    /**
     * Makes the function that leaves an item to the commit of the open transaction: `append` writes all that was left, once
     * for a group of transactions that are committed together. What is rolled back leaves nothing.
     */
    readonly beforeCommit: <A>(
      append: (items: Array.NonEmptyReadonlyArray<A>) => Effect.Effect<void, never, Transaction>
    ) => (item: A) => Effect.Effect<void, never, Transaction>
    /** Reads of one moment. */
    readonly snapshot: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Whether changes can be made: no other program has held the database for longer than a change waits. */
    readonly isWritable: Effect.Effect<boolean>
    /** The engine's own housekeeping, once an hour. */
    readonly maintain: Effect.Effect<void>
  }
>() {}

const atEnd = (ending: Ending): Effect.Effect<void, never, Transaction> =>
  Effect.map(Transaction, ([{ endings }]) => {
    endings.push(ending)
  })

/** Leaves an effect to the end of the open transaction, however that ends: what a rollback must not lose. */
export const afterwards = (effect: Effect.Effect<void>) => atEnd(() => effect)

/**
 * Leaves an effect to the end of the open transaction; it is dropped when that is rolled back. Where it fails, that is logged:
 * the change is made, and to say that it was not would be wrong.
 */
export const afterCommit = (effect: Effect.Effect<void>) =>
  atEnd((exit) =>
    exit._tag === "Success"
      ? Effect.catchAllCause(effect, (cause) =>
          Effect.logError("a change is committed, and what was to follow it failed", cause)
        )
      : Effect.void
  )
