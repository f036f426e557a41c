import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import Sqlite from "better-sqlite3"
import { Context, Effect, Layer, Schema } from "effect"
import { ServerConfig } from "../../Config.js"
import { StartupError } from "../../StartupError.js"
import { busyTimeoutMillis } from "../Busy.js"
import { connect, Statements } from "../Client.js"
import { DatabaseFile, guardDatabaseFile, openDescriptor } from "../Files.js"
import { lock } from "../Lock.js"
import { migrate } from "../Migrations.js"
import { isDiskFull, reasonOf } from "../Reason.js"
import { Database } from "../Database.js"
import { Reader } from "../Reader.js"
import { maintain } from "./Maintain.js"
import { isSqlError } from "../SqlErrors.js"

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

const open = (dbPath: string) =>
  Effect.gen(function* () {
    yield* guardDatabaseFile(dbPath)
    yield* lock(dbPath)
    const file = yield* openDescriptor(dbPath)
    const connection = yield* connect(dbPath).pipe(Effect.catchAllDefect(openFailure(dbPath)))
    yield* Effect.provideService(setPragmas, SqlClient.SqlClient, connection.client)
    return { ...connection, file }
  })

/**
 * Takes a database for the life of the scope: its files are the owner's alone, nobody else has it, and the connection has
 * every setting asserted.
 */
export const openDatabase = (dbPath: string) => Effect.map(open(dbPath), ({ client }) => client)

/** As `openDatabase`, with the bare statements of the connection too. */
export const openConnection = open

/** The one connection that writes: owned by this process alone, its settings asserted, its schema up to date. */
const ConnectionLive = Layer.scopedContext(
  Effect.gen(function* () {
    const { dbPath } = yield* ServerConfig
    const { client, file, statements } = yield* open(dbPath)
    yield* Effect.provideService(migrate(dbPath), SqlClient.SqlClient, client)
    return Context.make(SqlClient.SqlClient, client).pipe(
      Context.add(Statements, statements),
      Context.add(DatabaseFile, file)
    )
  })
).pipe(Layer.provide(Reactivity.layer))

const PortLive = Layer.effect(
  Database,
  Effect.gen(function* () {
    const { isWritable, transaction } = yield* Statements
    const { reading, snapshot } = yield* Reader
    const context = yield* Effect.context<SqlClient.SqlClient | DatabaseFile>()
    return {
      system: "sqlite",
      placeholder: () => "?",
      reading,
      transaction: (effect) => Effect.catchIf(transaction(effect), isSqlError, Effect.die),
      snapshot,
      isWritable: Effect.sync(isWritable),
      maintain: Effect.provide(maintain, context)
    }
  })
)

/** The database of the server: its two connections, closed last. */
export const DatabaseLive = PortLive.pipe(Layer.provideMerge(Reader.Default), Layer.provideMerge(ConnectionLive))
