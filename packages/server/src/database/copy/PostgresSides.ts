import * as Effect from "effect/Effect"
import type { ClientBase } from "pg"
import { refusedBy } from "../postgres/Reach.js"
import { CopyFailed, type Row, rowsAtOnce, type Source, type Target } from "./Sides.js"
import type { Table } from "./Tables.js"

const failed = (error: unknown): CopyFailed => {
  const { code, reason } = refusedBy(error)
  // The messages of class 22 (data exceptions) quote a value.
  return new CopyFailed({
    reason: code.startsWith("22") ? `a value does not fit its column (SQLSTATE ${code})` : reason,
    full: code === "53100"
  })
}

/** Returns the rows of a statement. */
export const found = <A extends object>(
  client: ClientBase,
  text: string
): Effect.Effect<ReadonlyArray<A>, CopyFailed> =>
  Effect.map(Effect.tryPromise({ try: () => client.query<A>(text), catch: failed }), ({ rows }) => rows)

/** Runs a statement that returns no rows. */
export const command = (client: ClientBase, text: string): Effect.Effect<void, CopyFailed> =>
  Effect.asVoid(found(client, text))

/** Begins a transaction whose reads all see the same moment. */
export const readAtOnce = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** The tables of the schema in the search path, with their columns and references. */
const catalog = `
  SELECT c.relname AS name,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    coalesce((SELECT json_agg(DISTINCT r.relname) FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
      WHERE f.conrelid = c.oid AND f.contype = 'f'), '[]') AS references
  FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.oid`

const quoted = (table: Table): string => table.columns.map(({ name }) => `"${name}"`).join(", ")

const sideOf = (client: ClientBase) =>
  Effect.map(found<Table>(client, catalog), (tables) => ({
    tables,
    count: ({ name }: Table) =>
      Effect.map(
        found<{ readonly rows: number }>(client, `SELECT count(*) AS rows FROM "${name}"`),
        ([row]) => row?.rows ?? 0
      )
  }))

/** Reads a database by cursors, in one transaction that the connection has open. */
export const postgresSource = (client: ClientBase) =>
  Effect.map(sideOf(client), (side) => {
    const fetch = Effect.map(
      Effect.tryPromise({
        try: () => client.query<Array<unknown>>({ text: `FETCH ${rowsAtOnce} FROM copied`, rowMode: "array" }),
        catch: failed
      }),
      ({ rows }): ReadonlyArray<Row> => rows
    )
    const each: Source["each"] = (table, use) => {
      const next: Effect.Effect<void, Effect.Effect.Error<ReturnType<typeof use>> | CopyFailed> = Effect.flatMap(
        fetch,
        (some) =>
          some.length === 0 ? Effect.void : Effect.zipRight(use(some), some.length < rowsAtOnce ? Effect.void : next)
      )
      return command(client, `DECLARE copied NO SCROLL CURSOR FOR SELECT ${quoted(table)} FROM "${table.name}"`).pipe(
        Effect.zipRight(next),
        Effect.zipRight(command(client, "CLOSE copied"))
      )
    }
    return { ...side, each } satisfies Source
  })

/** Writes into the empty tables of a database, in a transaction that the connection has open. */
export const postgresTarget = (client: ClientBase) =>
  Effect.map(sideOf(client), (side): Target => ({
    ...side,
    insert: (table, rows) => {
      // One array for each column.
      const values = table.columns.map((_, index) => rows.map((row) => row[index]))
      const arrays = table.columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(", ")
      const text = `INSERT INTO "${table.name}" (${quoted(table)}) SELECT * FROM unnest(${arrays})`
      return Effect.asVoid(Effect.tryPromise({ try: () => client.query(text, values), catch: failed }))
    }
  }))

interface Numbered {
  readonly table: string
  readonly column: string
}

/** Sets the identity columns to go on after the copied rows. */
export const continueNumbers = (client: ClientBase) =>
  Effect.gen(function* () {
    const numbered = yield* found<Numbered>(
      client,
      `SELECT c.relname AS table, a.attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attidentity <> '' AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`
    )
    for (const { column, table } of numbered) {
      yield* command(
        client,
        `SELECT setval(pg_get_serial_sequence('"${table}"', '${column}'), coalesce(max("${column}"), 1), max("${column}") IS NOT NULL)
          FROM "${table}"`
      )
    }
  })
