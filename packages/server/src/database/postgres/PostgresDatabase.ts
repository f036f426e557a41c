import { Context, Effect, type Redacted } from "effect"
import { Database, Transaction } from "../Database.js"
import { statements } from "./Connection.js"
import { migrate } from "./Migrations.js"
import { makePool } from "./Pool.js"
import { makeTransactions } from "./Transactions.js"

export interface PostgresSettings {
  readonly url: Redacted.Redacted
  /** The size of the pool of connections. */
  readonly connections: number
  /** Whether statements are prepared once a connection. Some connection poolers cannot. */
  readonly prepared: boolean
}

/** Opens a PostgreSQL database for the life of the scope, with its schema migrated. */
export const postgresDatabase = (settings: PostgresSettings) =>
  Effect.gen(function* () {
    yield* migrate(settings.url)
    const compiled = statements(settings.prepared)
    const pool = yield* makePool(settings, compiled)
    const { reading } = pool
    const ask = (text: string, values: ReadonlyArray<unknown> = []) => reading.execute(text, values, undefined)

    /** A lock by a digest of the name. Two names with the same digest wait for each other needlessly, and no more. */
    const lock = (name: string) =>
      Effect.flatMap(Transaction, ([{ connection }]) =>
        Effect.orDie(
          connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) IS NULL", [name], undefined)
        )
      ).pipe(Effect.asVoid)

    const database = Database.of({
      ...makeTransactions(pool, compiled),
      system: "postgresql",
      placeholder: (position) => `$${position + 1}`,
      indexHint: () => "",
      rowLock: "FOR UPDATE",
      reading,
      lock,
      isWritable: Effect.match(Effect.sandbox(ask("SELECT pg_is_in_recovery() AS standby")), {
        onFailure: () => false,
        onSuccess: ([row]) => row !== undefined && Reflect.get(row, "standby") === 0
      }),
      // Autovacuum maintains the tables.
      maintain: Effect.void
    })
    return Context.make(Database, database)
  })
