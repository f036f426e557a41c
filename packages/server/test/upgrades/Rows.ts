import type { Row, TestDatabase } from "./Databases.js"
import { type Engine, farAway } from "./Release.js"

const columns: Readonly<Record<Engine, string>> = {
  sqlite: `SELECT m.name AS table_name, c.name AS column_name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'`,
  postgres: "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
}

type Columns = Readonly<Record<string, ReadonlyArray<string>>>

/** The columns of every table. */
export const columnsOf = async (database: Pick<TestDatabase, "all">, engine: Engine): Promise<Columns> => {
  const found: Record<string, Array<string>> = {}
  for (const { column_name, table_name } of await database.all(columns[engine]))
    (found[String(table_name)] ??= []).push(String(column_name))
  return found
}

/** The tables that have no row, and the columns, as `TABLE.COLUMN`, that have no value in any row. */
export const emptyIn = async (
  database: Pick<TestDatabase, "all">,
  columns: Columns
): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const [table, names] of Object.entries(columns)) {
    const counts = names.map((name) => `count(${name}) AS ${name}`)
    const [row = {}] = await database.all(`SELECT ${counts.join(", ")}, count(*) AS of_all_rows FROM ${table}`)
    if (Number(row["of_all_rows"]) === 0) found.push(table)
    else found.push(...names.filter((name) => Number(row[name]) === 0).map((name) => `${table}.${name}`))
  }
  return found.sort()
}

const textOf = (row: Row, names: ReadonlyArray<string>): string =>
  JSON.stringify(names.map((name) => [name, Buffer.isBuffer(row[name]) ? row[name].toString("hex") : row[name]]))

/** Rows as sorted texts of some columns, for tables whose rows have no order. */
export const textsOf = (rows: ReadonlyArray<Row>, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  rows.map((row) => textOf(row, names)).sort()

/**
 * Tables whose rows later schemas make again: the record of migrations, and the search index of the audit logs, which comes
 * from the entries.
 */
const madeAgain = new Set([
  "effect_sql_migrations",
  "schema_info",
  "schema_migrations",
  ...["counters", "totals", "log_totals", "places", "place_keys", "place_counters", "postings", "actors", "times"].map(
    (name) => `audit_${name}`
  )
])

/** The rows of the tables that are kept, by table. */
export const keptRows = async (
  database: TestDatabase,
  columns: Columns
): Promise<ReadonlyMap<string, ReadonlyArray<Row>>> => {
  const rows = new Map<string, ReadonlyArray<Row>>()
  for (const table of Object.keys(columns).filter((name) => !madeAgain.has(name)))
    rows.set(table, await database.all(`SELECT * FROM ${table}`))
  return rows
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const idOf = (one: unknown): string => (isRecord(one) && typeof one["id"] === "string" ? one["id"] : "")

/** Lists without an order that a release promised: environments came by name, and have an order of their own since 0.3.0. */
const byId = (list: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  [...list].sort((a, b) => idOf(a).localeCompare(idOf(b)))

/**
 * Fields that differ in later releases with good reason: time or a call of the test has passed, or the server has other
 * settings.
 */
const notKept = new Set([
  "last_used_at",
  "last_seen_at",
  "old_key_until",
  "pending",
  "left_today",
  "left_this_minute",
  "claim"
])

/** Ends by time, which are moved along with a fixture, as the beginnings of delegations are. */
const ends = new Set(["expires_at", "login_ends_at"])

const isKept = (name: string, value: unknown, path: string): boolean =>
  !notKept.has(name) &&
  !(name === "created_at" && path.startsWith("/api/auth/delegations")) &&
  !(ends.has(name) && typeof value === "string" && value < farAway)

/** The paths in a response at which an earlier one has something else. Fields of its own are no difference. */
export const missing = (before: unknown, after: unknown, path: string): ReadonlyArray<string> => {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return byId(before).flatMap((one, index) => missing(one, byId(after)[index], `${path}/${index}`))
  if (isRecord(before) && isRecord(after))
    return Object.entries(before).flatMap(([name, one]) =>
      isKept(name, one, path) ? missing(one, after[name], `${path}/${name}`) : []
    )
  return Object.is(before, after) ? [] : [`${path}: ${JSON.stringify(before)}, now ${JSON.stringify(after)}`]
}
