import * as SqlClient from "@effect/sql/SqlClient"
import type * as SqlConnection from "@effect/sql/SqlConnection"
import * as SqlError from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import type Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { openFile } from "./SqliteFile.js"

/** Opens a file, and closes it with the scope. A file that cannot be opened is a defect. */
const opened = (filename: string, options: Sqlite.Options) =>
  Effect.acquireRelease(
    Effect.sync(() => openFile(filename, options)),
    (database) => Effect.sync(() => database.close())
  )

/**
 * Opens the toolkit's connection of a file. Statements are prepared once, and run in one step of a fiber: the toolkit's own takes
 * fifteen, which cost more than most statements.
 */
export const openConnection = (filename: string, options: { readonly readonly?: boolean } = {}) =>
  Effect.map(opened(filename, options), (database): SqlConnection.Connection => {
    const statements = new Map<string, Sqlite.Statement>()
    const prepare = (text: string): Sqlite.Statement => database.prepare(text)
    const prepareOnce = (text: string): Sqlite.Statement => {
      const known = statements.get(text) ?? prepare(text)
      statements.set(text, known)
      return known
    }
    const running =
      (prepared: typeof prepare) =>
      (text: string, values: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> =>
        Effect.try({
          try: () => {
            const statement = prepared(text)
            if (statement.reader) return statement.all(...values)
            statement.run(...values)
            return []
          },
          catch: (cause) => new SqlError.SqlError({ cause, message: "Failed to execute statement" })
        })
    const execute = running(prepareOnce)
    const executeUnprepared = running(prepare)
    return {
      execute,
      executeUnprepared,
      executeRaw: executeUnprepared,
      executeValues: () => Effect.dieMessage("statements are not run for values"),
      executeStream: () => Stream.dieMessage("statements are not streamed")
    }
  })

/** The toolkit's client on a connection, for migrations. It keeps no statement prepared. */
export const clientOn = (connection: SqlConnection.Connection) =>
  SqlClient.make({
    acquirer: Effect.succeed({ ...connection, execute: connection.executeUnprepared }),
    compiler: Statement.makeCompilerSqlite(),
    spanAttributes: []
  })

/** Opens the toolkit's client of a file, and closes it with the scope. */
export const clientOf = (filename: string, options: { readonly readonly?: boolean } = {}) =>
  Effect.flatMap(openConnection(filename, options), clientOn)
