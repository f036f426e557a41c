import * as Reactivity from "@effect/experimental/Reactivity"
import { Database } from "@coffer/server/database/Database"
import { textAt } from "@coffer/server/database/postgres/Dialect"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { SqlClient, Statement } from "@effect/sql"
import { Clock, Effect, Layer } from "effect"
import { joining } from "../RawStatements.js"
import { settingsOf } from "./Databases.js"

const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape('"'),
  onCustom: () => ["", []],
  onRecordUpdate: () => ["", []]
})

const noClock = "CAST(NULL AS BIGINT)"

/** The process's time instead of the database's, so that tests can set it. */
const OwnClock = Layer.effect(
  Database,
  Effect.map(Database, (database) => ({
    ...database,
    clock: Clock.currentTimeMillis,
    clockExpression: noClock,
    textOf: textAt(noClock)
  }))
)

/**
 * A database with raw statements of a test: of the open transaction, or of none. It has the time of the database only if
 * the clock is `shared`.
 */
export const PostgresStatements = (url: string, clock: "own" | "shared" = "own") =>
  Layer.scoped(
    SqlClient.SqlClient,
    Effect.flatMap(Database, ({ reading }) =>
      SqlClient.make({
        acquirer: Effect.succeed(joining(reading, (statement) => statement)),
        compiler,
        spanAttributes: []
      })
    )
  ).pipe(
    Layer.provide(Reactivity.layer),
    Layer.provideMerge(clock === "own" ? OwnClock : Layer.effectContext(Effect.context<Database>())),
    Layer.provideMerge(Layer.scopedContext(postgresDatabase(settingsOf(url, { connections: 30 }))))
  )
