import type Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isDiskFull, reasonOf } from "../../base/Reason.js"
import { CopyFailed, type Row, rowsAtOnce, type Source, type Target } from "./Sides.js"
import type { Table } from "./Tables.js"
import { openFile } from "../sqlite/SqliteFile.js"

const attempt = <A>(work: () => A): Effect.Effect<A, CopyFailed> =>
  Effect.try({ try: work, catch: (error) => new CopyFailed({ reason: reasonOf(error), full: isDiskFull(error) }) })

const list = <A>(database: Sqlite.Database, statement: string, ...values: ReadonlyArray<string>): ReadonlyArray<A> =>
  database.prepare<Array<string>, A>(statement).all(...values)

interface Named {
  readonly name: string
}

const tablesOf = (database: Sqlite.Database): ReadonlyArray<Table> =>
  list<Named>(
    database,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
  ).map(({ name }) => ({
    name,
    columns: list(database, "SELECT name, type FROM pragma_table_info(?)", name),
    references: list<Named>(database, `SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)`, name).map(
      (referenced) => referenced.name
    )
  }))

const quoted = (table: Table): string => table.columns.map(({ name }) => `"${name}"`).join(", ")

const sideOf = (database: Sqlite.Database) =>
  Effect.map(
    attempt(() => tablesOf(database)),
    (tables) => ({
      tables,
      count: ({ name }: Table) =>
        attempt(() => list<{ readonly rows: number }>(database, `SELECT count(*) AS rows FROM "${name}"`)[0]?.rows ?? 0)
    })
  )

/** Opens a connection that is closed with the scope. */
export const sqliteAt = (
  path: string,
  options: Sqlite.Options = {}
): Effect.Effect<Sqlite.Database, CopyFailed, Scope.Scope> =>
  Effect.acquireRelease(
    attempt(() => openFile(path, { fileMustExist: true, ...options })),
    (database) => Effect.sync(() => database.close())
  )

/** The next rows of a statement; fewer than `rowsAtOnce` at its end. */
const take = (rows: IterableIterator<Row>): ReadonlyArray<Row> => {
  const taken: Array<Row> = []
  while (taken.length < rowsAtOnce) {
    const next = rows.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

/** Reads a file in one transaction of a read-only connection. */
export const sqliteSource = (path: string) =>
  Effect.gen(function* () {
    const database = yield* sqliteAt(path, { readonly: true })
    yield* attempt(() => database.exec("BEGIN"))
    const side = yield* sideOf(database)
    const each: Source["each"] = (table, use) =>
      Effect.acquireUseRelease(
        attempt(() =>
          database
            .prepare<[], Row>(`SELECT ${quoted(table)} FROM "${table.name}"`)
            .raw()
            .iterate()
        ),
        (rows) => {
          const next: Effect.Effect<void, Effect.Effect.Error<ReturnType<typeof use>> | CopyFailed> = Effect.flatMap(
            attempt(() => take(rows)),
            (some) =>
              some.length === 0
                ? Effect.void
                : Effect.zipRight(use(some), some.length < rowsAtOnce ? Effect.void : next)
          )
          return next
        },
        (rows) => Effect.sync(() => rows.return?.())
      )
    return { ...side, each } satisfies Source
  })

/** Writes into a file that has the schema and no rows. The caller commits. */
export const sqliteTarget = (database: Sqlite.Database) =>
  Effect.map(sideOf(database), (side): Target => {
    const statements = new Map<string, Sqlite.Statement>()
    const prepared = (table: Table) => {
      const known = statements.get(table.name)
      if (known !== undefined) return known
      const statement = database.prepare(
        `INSERT INTO "${table.name}" (${quoted(table)}) VALUES (${table.columns.map(() => "?").join(", ")})`
      )
      statements.set(table.name, statement)
      return statement
    }
    return {
      ...side,
      insert: (table, rows) =>
        attempt(() => {
          const statement = prepared(table)
          for (const row of rows) statement.run(...row)
        })
    }
  })
