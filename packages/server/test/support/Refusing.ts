import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import type { Program } from "./Program.js"
import { isOnPostgres } from "./Services.js"

interface Refusal {
  readonly table: string
  readonly on?: ReadonlyArray<"INSERT" | "UPDATE">
  /** The condition of a new row; every row if absent. */
  readonly when?: string
}

const statements = ({ on = ["INSERT"], table, when = "1 = 1" }: Refusal): ReadonlyArray<string> =>
  isOnPostgres()
    ? [
        `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`,
        `CREATE TRIGGER broken BEFORE ${on.join(" OR ")} ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`
      ]
    : on.map(
        (change) => `CREATE TRIGGER broken_${change} BEFORE ${change} ON ${table} WHEN ${when}
          BEGIN SELECT RAISE(ABORT, 'broken'); END`
      )

const healing = ({ on = ["INSERT"], table }: Refusal): ReadonlyArray<string> =>
  isOnPostgres() ? [`DROP TRIGGER broken ON ${table}`] : on.map((change) => `DROP TRIGGER broken_${change}`)

const all = (run: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(run, (statement) => sql.unsafe(statement), { discard: true })
  )

/** Makes a table refuse rows. Returns how to heal it. */
export const refusing = (refusal: Refusal) => Effect.as(all(statements(refusal)), all(healing(refusal)))

/** Makes a table of a server's database refuse rows. Returns how to heal it. */
export const refusingIn = async (program: Pick<Program, "execute">, refusal: Refusal): Promise<() => Promise<void>> => {
  for (const statement of statements(refusal)) await program.execute(statement)
  return async () => {
    for (const statement of healing(refusal)) await program.execute(statement)
  }
}

/** Returns how to undo `openToChanges`: a server that starts on SQLite misses the triggers. */
export const closing = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const made = isOnPostgres()
    ? []
    : yield* sql<{ sql: string }>`
        SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND (name LIKE '%_no_update' OR name LIKE '%_no_delete')`
  return Effect.forEach(made, (trigger) => sql.unsafe(trigger.sql), { discard: true })
})

/** Lets entries of the audit log and the list of logs be changed, as someone with the database's own rights could. */
export const openToChanges = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    isOnPostgres()
      ? ["audit_entries", "audit_logs"].map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`)
      : ["audit_entries", "audit_logs"].flatMap((table) => [
          `DROP TRIGGER ${table}_no_update`,
          `DROP TRIGGER ${table}_no_delete`
        ]),
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
)
