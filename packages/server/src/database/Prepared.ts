import type Sqlite from "better-sqlite3"

/** The program has some hundred texts of statements; lists of varying length make more. */
const maxKept = 500

type Rows = ReadonlyArray<unknown>

const runWith = (statement: Sqlite.Statement, parameters: Rows): Rows => {
  if (statement.reader) return statement.all(...parameters)
  statement.run(...parameters)
  return []
}

/** Runs statements of a connection at once; each text is prepared once, and kept. They throw what the driver does. */
export const preparing = (database: Sqlite.Database) => {
  const kept = new Map<string, Sqlite.Statement>()
  const prepare = (text: string): Sqlite.Statement => {
    const found = kept.get(text)
    if (found !== undefined) return found
    if (kept.size >= maxKept) kept.clear()
    const statement = database.prepare(text)
    kept.set(text, statement)
    return statement
  }
  return {
    run: (text: string, parameters: Rows): Rows => runWith(prepare(text), parameters),
    /** For a text that does not come again. */
    runOnce: (text: string, parameters: Rows): Rows => runWith(database.prepare(text), parameters)
  } as const
}
