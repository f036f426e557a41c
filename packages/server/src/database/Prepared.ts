import type Sqlite from "better-sqlite3"

/** The program has some hundred texts of statements; lists of varying length make more. */
const maxKept = 500

/** Prepares each text of a statement once, and keeps it. */
export const preparing = (database: Sqlite.Database) => {
  const kept = new Map<string, Sqlite.Statement>()
  return (text: string): Sqlite.Statement => {
    const found = kept.get(text)
    if (found !== undefined) return found
    if (kept.size >= maxKept) kept.clear()
    const statement = database.prepare(text)
    kept.set(text, statement)
    return statement
  }
}
