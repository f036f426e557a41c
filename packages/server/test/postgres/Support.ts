import { Database } from "@coffer/server/database/Database"
import type { PostgresSettings } from "@coffer/server/base/config/DatabaseSettings"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { query } from "@coffer/server/database/Query"
import { Cause, Effect, Exit, Option, Schema } from "effect"
import { freshDatabase, onServer, settingsOf } from "../support/postgres/Databases.js"

export const Name = Schema.Struct({ name: Schema.String })
const Count = Schema.Struct({ count: Schema.Number })

export const statements = Effect.map(query, ({ all, one, write }) => ({
  add: write`INSERT INTO organizations (id, name, created_at, updated_at) VALUES (${"id"}, ${"id"}, '', '')`,
  rename: write`UPDATE organizations SET name = ${"name"} WHERE id = ${"id"}`,
  names: all(Name)`SELECT name FROM organizations ORDER BY name`,
  count: one(Count)`SELECT count(*) AS count FROM organizations`
}))

export const add = (id: string) => Effect.flatMap(statements, (run) => run.add({ id }))
export const names = Effect.flatMap(statements, (run) =>
  Effect.map(run.names({}), (rows) => rows.map(({ name }) => name))
)
export const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) => database.transaction(effect))

export const withDatabase =
  (settings: Partial<PostgresSettings> = {}) =>
  <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { url } = yield* freshDatabase()
        const database = yield* postgresDatabase(settingsOf(url, { connections: 4, ...settings }))
        return yield* Effect.provide(test, database)
      })
    )

/** Ends the sessions of the test's database that meet a condition, as an operator or a crash would. */
export const terminate = (condition: string) =>
  Effect.flatMap(
    Effect.map(query, ({ one }) => one(Name)`SELECT current_database() AS name`),
    (database) =>
      Effect.flatMap(database({}), ({ name }) =>
        onServer("postgres", async (client) => {
          const { rowCount } = await client.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND ${condition}`,
            [name]
          )
          return rowCount ?? 0
        })
      )
  )

export const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.dieOption(exit.cause)) : undefined

export const tagOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  const defect = defectOf(exit)
  return typeof defect === "object" && defect !== null ? Reflect.get(defect, "_tag") : undefined
}
