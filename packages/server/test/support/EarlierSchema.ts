import { clientOf } from "@coffer/server/database/sqlite/Connection"
import { migrate, migrations } from "@coffer/server/database/sqlite/Migrations"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { earlierCheck } from "./EarlierCheck.js"
import { freshPath } from "./Services.js"

/** How earlier schemas stored the columns of a version: with the nonces apart. */
const earlierVersions: Readonly<Record<string, string>> = {
  wrapped_key: "CAST(substr(wrapped_key, 13) AS BLOB)",
  key_nonce: "CAST(substr(wrapped_key, 1, 12) AS BLOB)",
  ciphertext: "coalesce(CAST(substr(ciphertext, 13) AS BLOB), x'')",
  nonce: "coalesce(CAST(substr(ciphertext, 1, 12) AS BLOB), x'')"
}

/** How earlier schemas stored postings: with all columns of their run. */
const earlierPostings = `(SELECT k.*, o.position FROM content.audit_postings o
  JOIN content.audit_place_counters k ON k.id = o.run)`

/** The schema with the list of audit logs, whose end the check of the master key holds. */
const firstWithList = 27

/** A database as a program that knew the first migrations alone has left it, with what another database holds. */
export const databaseOfSchema = (newest: number, content: string) =>
  Effect.gen(function* () {
    const path = yield* freshPath
    const known = Object.fromEntries(Object.entries(migrations).slice(0, newest))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const client = yield* clientOf(path)
        yield* Effect.provideService(migrate(path, known), SqlClient.SqlClient, client)
        yield* client`ATTACH ${content} AS content`
        const triggers = yield* client<{ name: string; sql: string }>`
          SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'`
        for (const { name } of triggers) yield* client`DROP TRIGGER main.${client(name)}`
        // Tables of totals that there are no more are left empty: what replaced them is made from the entries.
        const tables = yield* client<{ name: string }>`
          SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'effect_sql_migrations'
            AND name IN (SELECT name FROM content.sqlite_schema)`
        yield* client`PRAGMA foreign_keys = OFF`
        for (const { name } of tables) {
          const columns = yield* client<{ name: string }>`SELECT name FROM pragma_table_info(${name}, 'main')`
          const names = columns.map((column) => column.name)
          const sources = names.map((column) => (name === "secret_versions" && earlierVersions[column]) || column)
          const source = names.includes("place") && name === "audit_postings" ? earlierPostings : `content.${name}`
          yield* client.unsafe(
            `INSERT INTO main.${name} (${names.join(", ")}) SELECT ${sources.join(", ")} FROM ${source}`
          )
        }
        for (const { sql } of triggers) yield* client.unsafe(sql)
        if (newest < firstWithList) yield* earlierCheck(client)
      })
    ).pipe(Effect.provide(Reactivity.layer))
    return path
  })
