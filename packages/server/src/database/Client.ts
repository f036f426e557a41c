import { SqlClient, type SqlConnection, SqlError, Statement } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Effect, Stream } from "effect"
import { preparing } from "./Prepared.js"

const failure = (cause: unknown) => new SqlError.SqlError({ cause, message: "Failed to execute statement" })

const run = (statement: Sqlite.Statement, parameters: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  if (statement.reader) return statement.all(...parameters)
  statement.run(...parameters)
  return []
}

/** The driver's connection in the toolkit's form. A statement that is kept prepared costs one step. */
const connectionOf = (database: Sqlite.Database): SqlConnection.Connection => {
  const prepare = preparing(database)
  const attempt = (work: () => ReadonlyArray<unknown>) => Effect.try({ try: work, catch: failure })
  return {
    execute: (text, parameters) => attempt(() => run(prepare(text), parameters)),
    executeRaw: (text, parameters) => attempt(() => run(prepare(text), parameters)),
    executeUnprepared: (text, parameters) => attempt(() => run(database.prepare(text), parameters)),
    executeValues: () => Effect.dieMessage("rows are asked for as objects"),
    executeStream: () => Stream.dieMessage("rows are asked for all at once")
  }
}

/**
 * A client of one connection that writes, in WAL mode, closed with the scope. Statements outside of a transaction wait for
 * the one that is open, if there is one. A file that cannot be opened is a defect.
 */
export const makeClient = (filename: string) =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new Sqlite(filename)),
      (open) => Effect.sync(() => open.close())
    )
    yield* Effect.sync(() => {
      database.pragma("journal_mode = WAL")
    })
    const connection = connectionOf(database)
    const gate = yield* Effect.makeSemaphore(1)
    let held = false
    const release = Effect.suspend(() => {
      held = false
      return gate.release(1)
    })
    const reserve = Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(
        restore(gate.take(1)),
        Effect.suspend(() => {
          held = true
          return Effect.as(
            Effect.addFinalizer(() => release),
            connection
          )
        })
      )
    )
    const open = Effect.succeed(connection)
    const behindTransactions = gate.withPermits(1)(open)
    return yield* SqlClient.make({
      acquirer: Effect.suspend(() => (held ? behindTransactions : open)),
      transactionAcquirer: reserve,
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    })
  })
