import * as Reactivity from "@effect/experimental/Reactivity"
import { Database } from "@coffer/server/database/Database"
import { postgresDatabase } from "@coffer/server/database/postgres/PostgresDatabase"
import { SqlClient, Statement } from "@effect/sql"
import { Effect, Layer, Redacted } from "effect"
import { joining } from "../RawStatements.js"

const compiler = Statement.makeCompiler({
  dialect: "pg",
  placeholder: (index) => `$${index}`,
  onIdentifier: Statement.defaultEscape('"'),
  onCustom: () => ["", []],
  onRecordUpdate: () => ["", []]
})

/** A database with raw statements of a test: of the open transaction, or of none. */
export const PostgresStatements = (url: string) =>
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
    Layer.provideMerge(
      Layer.scopedContext(postgresDatabase({ url: Redacted.make(url), connections: 30, prepared: true }))
    )
  )
