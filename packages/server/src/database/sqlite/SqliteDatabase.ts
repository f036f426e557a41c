import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type * as SqlConnection from "@effect/sql/SqlConnection"
import Sqlite from "better-sqlite3"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { ServerConfig } from "../../base/Config.js"
import { StartupError } from "../../base/StartupError.js"
import { requireSoundAddon } from "./Addon.js"
import { busyTimeoutMillis } from "./Busy.js"
import { fileFence } from "./FileFence.js"
import { DatabaseFile, guardDatabaseFile, openDescriptor } from "./DatabaseFile.js"
import { lock } from "./Lock.js"
import { migrate, newestMigration, requireCurrentSchema } from "./Migrations.js"
import { isDiskFull, reasonOf } from "../../base/Reason.js"
import { Database, Transaction } from "../Database.js"
import { textWith } from "../Template.js"
import { Superseded } from "../Superseded.js"
import { checkpoints } from "./Checkpoints.js"
import { clientOn, openConnection } from "./Connection.js"
import { groupCommit } from "./GroupCommit.js"
import { maintain } from "./Maintain.js"
import { readingOf } from "./Reading.js"
import { SqliteWriter } from "./SqliteWriter.js"

/** The settings of the writing connection, which are checked after setting. Ignoring one would lose or leak data. */
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

/**
 * The unary plus hides a parameter's value from the planner, for which SQLite would prepare the statement again at each
 * execution: for LIMIT, LIKE, and a column in the condition of a partial index.
 */
const textOf = textWith({
  placeholder: () => "+?",
  indexHint: (index) => `INDEXED BY ${index}`,
  // The lock of the file is its fence.
  fence: "TRUE",
  time: (placeholder) => placeholder
})

/** Sets every pragma, and fails if one has no effect. */
const setPragmas = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const [name, wanted] of Object.entries(pragmas)) {
    yield* sql.unsafe(`PRAGMA ${name} = ${wanted}`)
    const rows = yield* sql.unsafe(`PRAGMA ${name}`)
    const [row] = yield* Schema.decodeUnknown(
      Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
    )(rows)
    const found = row === undefined ? undefined : Object.values(row)[0]
    // SQLite built without memory mapping returns no row for mmap_size.
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

/** Turns the defect of a failed open into a message for the operator. */
const openFailure = (path: string) => (defect: unknown) =>
  defect instanceof Sqlite.SqliteError
    ? new StartupError({ message: `the database ${path} cannot be opened: ${reasonOf(defect)}` })
    : Effect.die(defect)

/**
 * Opens a database for the life of the scope: checks its files, locks it, and sets the pragmas of the writing
 * connection. `prepare` checks or migrates the schema before any other statement.
 */
const open = <E>(
  dbPath: string,
  prepare: Effect.Effect<void, E, SqlClient.SqlClient>,
  checkpoints: (connection: SqlConnection.Connection) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
) =>
  Effect.gen(function* () {
    yield* requireSoundAddon()
    yield* guardDatabaseFile(dbPath)
    yield* lock(dbPath)
    const file = yield* openDescriptor(dbPath)
    const { isCurrent, superseded } = fileFence(dbPath, file.descriptor)
    const connection = yield* openConnection(dbPath).pipe(Effect.catchAllDefect(openFailure(dbPath)))
    yield* Effect.provideServiceEffect(Effect.zipRight(setPragmas, prepare), SqlClient.SqlClient, clientOn(connection))
    const { alone, isWritable, ...commits } = yield* groupCommit(connection, yield* checkpoints(connection), isCurrent)
    const { reading, snapshot } = yield* readingOf(dbPath)
    const database = Database.of({
      ...commits,
      reading,
      snapshot,
      unready: Effect.matchEffect(reading.execute("SELECT id FROM instance", [], undefined), {
        onFailure: () => Effect.succeed("the database does not respond"),
        onSuccess: () =>
          isCurrent()
            ? Effect.map(isWritable, (is) => (is ? null : "another program has locked the database"))
            : Effect.succeed(new Superseded().message)
      }),
      superseded,
      system: "sqlite",
      schema: newestMigration,
      isShared: false,
      clock: Clock.currentTimeMillis,
      pool: null,
      textOf,
      clockExpression: "NULL",
      sizeExpression: "(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())",
      // Nor is a silent one, whose time is of this clock, paused.
      mayHaveSession: "FALSE",
      hasLateral: false,
      rowLock: null,
      lock: () => Effect.asVoid(Transaction),
      maintain: maintain({ connection, alone }, dbPath)
    })
    return Context.make(Database, database).pipe(
      Context.add(SqliteWriter, { connection, alone }),
      Context.add(DatabaseFile, file)
    )
  }).pipe(Effect.provide(Reactivity.layer))

/** The server's database, with its schema migrated. */
export const DatabaseLive = Layer.scopedContext(
  Effect.flatMap(ServerConfig, ({ dbPath }) =>
    open(dbPath, migrate(dbPath), (connection) => checkpoints(connection, dbPath))
  )
)

/** The database for an offline command, which does not migrate: fails if the schema is not this program's. */
export const offlineDatabase = (dbPath: string) => open(dbPath, requireCurrentSchema, () => Effect.succeed(Effect.void))

/** Like `offlineDatabase`, but accepts any schema. */
export const databaseOfAnySchema = (dbPath: string) => open(dbPath, Effect.void, () => Effect.succeed(Effect.void))
