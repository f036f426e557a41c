import { SqlClient, type SqlConnection, SqlError, Statement } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Context, Effect, Stream } from "effect"
import { preparing } from "./Prepared.js"

/** What a statement's placeholders stand for, in their order. */
export type Parameter = string | number | null | Uint8Array

/**
 * A statement of the connection that writes, run at once; it answers rows as objects. Only for use inside a transaction that
 * is open: outside of one it would take part in somebody else's. Throws what the driver does.
 */
export class Statements extends Context.Tag("@coffer/server/Statements")<
  Statements,
  (text: string, parameters: ReadonlyArray<Parameter>) => ReadonlyArray<unknown>
>() {}

export const failure = (cause: unknown) => new SqlError.SqlError({ cause, message: "Failed to execute statement" })

/** The driver's connection in the toolkit's form. A statement that is kept prepared costs one step. */
const connectionOf = ({ run, runOnce }: ReturnType<typeof preparing>): SqlConnection.Connection => {
  const attempt = (work: () => ReadonlyArray<unknown>) => Effect.try({ try: work, catch: failure })
  return {
    execute: (text, parameters) => attempt(() => run(text, parameters)),
    executeRaw: (text, parameters) => attempt(() => run(text, parameters)),
    executeUnprepared: (text, parameters) => attempt(() => runOnce(text, parameters)),
    executeValues: () => Effect.dieMessage("rows are asked for as objects"),
    executeStream: () => Stream.dieMessage("rows are asked for all at once")
  }
}

/**
 * A connection that writes, in WAL mode, closed with the scope, as the toolkit's client and as its bare statements. The
 * client's statements outside of a transaction wait for the one that is open, if there is one. A file that cannot be opened
 * is a defect.
 */
export const connect = (filename: string) =>
  Effect.gen(function* () {
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new Sqlite(filename)),
      (open) => Effect.sync(() => open.close())
    )
    yield* Effect.sync(() => {
      database.pragma("journal_mode = WAL")
    })
    const prepared = preparing(database)
    const connection = connectionOf(prepared)
    const gate = yield* Effect.makeSemaphore(1)
    let held = false
    /** A commit that failed can leave its transaction open (sqlite.org/lang_transaction.html): what comes next is no part of it. */
    const rollBackRest = Effect.ignore(
      Effect.try(() => {
        if (database.inTransaction) database.exec("ROLLBACK")
      })
    )
    const release = Effect.zipRight(
      rollBackRest,
      Effect.suspend(() => {
        held = false
        return gate.release(1)
      })
    )
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
    const client = yield* SqlClient.make({
      acquirer: Effect.suspend(() => (held ? behindTransactions : open)),
      transactionAcquirer: reserve,
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    })
    return { client, statements: prepared.run }
  })
