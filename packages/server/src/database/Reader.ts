import * as Reactivity from "@effect/experimental/Reactivity"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Effect, Schema } from "effect"
import { ServerConfig } from "../Config.js"

type Parameter = string | number | null

/**
 * The read-only connection that answers every request's questions: it never waits for a transaction, sees a write the
 * moment that it is committed and never before, and cannot write. A statement costs it a few microseconds.
 */
export class Reader extends Effect.Service<Reader>()("@coffer/server/Reader", {
  scoped: Effect.gen(function* () {
    const { dbPath } = yield* ServerConfig
    const client = yield* SqliteClient.make({
      filename: dbPath,
      readonly: true,
      disableWAL: true,
      prepareCacheSize: 200,
      prepareCacheTTL: "1 day"
    }).pipe(Effect.provide(Reactivity.layer))
    const connection = yield* Effect.orDie(client.reserve)
    const settings = ["busy_timeout = 5000", "trusted_schema = OFF", "cell_size_check = ON", "temp_store = MEMORY"]
    for (const setting of settings) {
      yield* Effect.orDie(connection.executeUnprepared(`PRAGMA ${setting}`, [], undefined))
    }

    /** Rows of one statement, decoded; a row that does not decode is a defect: nobody but this program writes them. */
    const rows = <A, I>(row: Schema.Schema<A, I>) => {
      const decode = Schema.decodeUnknownSync(Schema.Array(row))
      return (statement: string, parameters: ReadonlyArray<Parameter>): Effect.Effect<ReadonlyArray<A>> =>
        Effect.orDie(Effect.map(connection.execute(statement, parameters, undefined), (found) => decode(found)))
    }

    return { rows } as const
  })
}) {}
