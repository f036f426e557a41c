import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
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

/** Makes a table refuse rows. Returns how to heal it. */
export const refusing = (refusal: Refusal) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const statement of statements(refusal)) yield* sql.unsafe(statement)
    const { on = ["INSERT"], table } = refusal
    return isOnPostgres()
      ? sql.unsafe(`DROP TRIGGER broken ON ${table}`)
      : Effect.forEach(on, (change) => sql.unsafe(`DROP TRIGGER broken_${change}`), { discard: true })
  })

/** Lets entries of the audit log be changed, as someone with the database's own rights could. */
export const openToChanges = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    isOnPostgres()
      ? ["ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_no_change"]
      : ["DROP TRIGGER audit_entries_no_update", "DROP TRIGGER audit_entries_no_delete"],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
)
