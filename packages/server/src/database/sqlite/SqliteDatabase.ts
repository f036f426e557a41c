import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient, type SqlConnection } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Context, Effect, Layer, Schema, type Scope } from "effect"
import { ServerConfig } from "../../Config.js"
import { StartupError } from "../../StartupError.js"
import { busyTimeoutMillis } from "./Busy.js"
import { DatabaseFile, guardDatabaseFile, openDescriptor } from "./Files.js"
import { lock } from "./Lock.js"
import { migrate, requireCurrentSchema } from "./Migrations.js"
import { isDiskFull, reasonOf } from "../Reason.js"
import { Database } from "../Database.js"
import { checkpoints } from "./Checkpoints.js"
import { clientOf, connectionOf } from "./Connection.js"
import { groupCommit } from "./GroupCommit.js"
import { maintain } from "./Maintain.js"
import { readingOf } from "./Reading.js"
import { SqliteWriter } from "./SqliteWriter.js"

/** What every connection is set to and then found to be: an engine that forgets one of these loses or leaks data. */
export const pragmas = {
  journal_mode: "wal",
  synchronous: 2,
  foreign_keys: 1,
  secure_delete: 1,
  busy_timeout: busyTimeoutMillis,
  trusted_schema: 0,
  cell_size_check: 1,
  temp_store: 2,
  mmap_size: 0
} as const

/** Sets every pragma and asserts that it took. */
const setPragmas = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [name, wanted] of Object.entries(pragmas)) {
    yield* sql.unsafe(`PRAGMA ${name} = ${wanted}`)
    const rows = yield* sql.unsafe(`PRAGMA ${name}`)
    const [row] = yield* Schema.decodeUnknown(
      Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
    )(rows)
    const found = row === undefined ? undefined : Object.values(row)[0]
    // SQLite answers no row for mmap_size where it is built without memory mapping.
    if (found !== wanted && !(name === "mmap_size" && found === undefined)) {
      return yield* new StartupError({ message: `the database refuses the setting ${name} = ${wanted}` })
    }
  }
}).pipe(
  Effect.catchTags({
    SqlError: (error) =>
      new StartupError({
        message: isDiskFull(error)
          ? "the database cannot be opened: the disk is full"
          : `the file is not a usable database: ${reasonOf(error.cause)}`
      }),
    ParseError: () => new StartupError({ message: "the database's settings cannot be read" })
  })
)

/** What better-sqlite3 throws while it opens a file is a defect to the toolkit; to an operator it is a sentence. */
const openFailure = (path: string) => (defect: unknown) =>
  defect instanceof Sqlite.SqliteError
    ? new StartupError({ message: `the database ${path} cannot be opened: ${reasonOf(defect)}` })
    : Effect.die(defect)

/**
 * Takes a database for the life of the scope: its files are the owner's alone, nobody else has it, and the connection that
 * writes has every setting asserted. `prepare` checks the schema, or brings it up to date, before anything else is asked.
 */
const open = <E>(
  dbPath: string,
  prepare: Effect.Effect<void, E, SqlClient.SqlClient>,
  checkpoints: (connection: SqlConnection.Connection) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
) =>
  Effect.gen(function* () {
    yield* guardDatabaseFile(dbPath)
    yield* lock(dbPath)
    const file = yield* openDescriptor(dbPath)
    const client = yield* clientOf(dbPath).pipe(Effect.catchAllDefect(openFailure(dbPath)))
    yield* Effect.provideService(Effect.zipRight(setPragmas, prepare), SqlClient.SqlClient, client)
    const connection = yield* connectionOf(client)
    const { alone, ...commits } = yield* groupCommit(connection, yield* checkpoints(connection))
    const database = Database.of({
      ...commits,
      ...(yield* readingOf(dbPath)),
      system: "sqlite",
      placeholder: () => "?",
      indexHint: (index) => `INDEXED BY ${index}`,
      maintain: maintain({ connection, alone }, dbPath)
    })
    return Context.make(Database, database).pipe(
      Context.add(SqliteWriter, { connection, alone }),
      Context.add(DatabaseFile, file)
    )
  }).pipe(Effect.provide(Reactivity.layer))

/** The database of the server, its schema up to date, closed last. */
export const DatabaseLive = Layer.scopedContext(
  Effect.flatMap(ServerConfig, ({ dbPath }) =>
    open(dbPath, migrate(dbPath), (connection) => checkpoints(connection, dbPath))
  )
)

/** The database of a program of the operator, which changes no schema: one that is not this program's is refused. */
export const offlineDatabase = (dbPath: string) => open(dbPath, requireCurrentSchema, () => Effect.succeed(Effect.void))

/** As `offlineDatabase`, whatever its schema is. */
export const databaseOfAnySchema = (dbPath: string) => open(dbPath, Effect.void, () => Effect.succeed(Effect.void))
