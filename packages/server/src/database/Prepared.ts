import type Sqlite from "better-sqlite3"

/** The program has some hundred texts of statements; lists of varying length make more. */
const maxKept = 500

type Rows = ReadonlyArray<unknown>
type Run = (parameters: Rows) => Rows

/** The driver answers a row as a list for half of what it takes to make an object of it. */
export const asObject =
  (names: ReadonlyArray<string>) =>
  (values: unknown): unknown => {
    const row: Record<string, unknown> = {}
    if (Array.isArray(values)) {
      names.forEach((name, index) => {
        row[name] = values[index]
      })
    }
    return row
  }

const runOf = (statement: Sqlite.Statement): Run => {
  if (!statement.reader) {
    return (parameters) => {
      statement.run(...parameters)
      return []
    }
  }
  const row = asObject(statement.columns().map(({ name }) => name))
  statement.raw()
  return (parameters) => statement.all(...parameters).map(row)
}

/** Runs statements of a connection at once; each text is prepared once, and kept. They throw what the driver does. */
export const preparing = (database: Sqlite.Database) => {
  const kept = new Map<string, Run>()
  const prepare = (text: string): Run => {
    const found = kept.get(text)
    if (found !== undefined) return found
    if (kept.size >= maxKept) kept.clear()
    const run = runOf(database.prepare(text))
    kept.set(text, run)
    return run
  }
  return {
    run: (text: string, parameters: Rows): Rows => prepare(text)(parameters),
    /** For a text that does not come again. */
    runOnce: (text: string, parameters: Rows): Rows => runOf(database.prepare(text))(parameters)
  } as const
}
