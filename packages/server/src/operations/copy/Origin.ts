import { existsSync } from "node:fs"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DatabasePlace } from "../../base/config/DatabasePlace.js"
import type { DatabaseTarget } from "../../base/config/DatabaseUrl.js"
import { Keyring, unwrapBytes } from "../../keys/Keyring.js"
import { NamedWrappedRow } from "../../keys/WrappedRows.js"
import { StartupError } from "../../base/StartupError.js"
import { schemaState } from "../../database/postgres/Migrations.js"
import { connectWith, reach, type Reached } from "../../database/postgres/Reach.js"
import type { ClientBase } from "pg"
import { lockFence } from "../../database/postgres/DatabaseFence.js"
import { requireStopped } from "../offline/Replicas.js"
import { takeOver } from "../offline/Takeover.js"
import { clientOf } from "../../database/sqlite/Connection.js"
import { lock } from "../../database/sqlite/Lock.js"
import { requireCurrentSchema } from "../../database/sqlite/Migrations.js"
import { command, postgresSource, readAtOnce } from "../../database/copy/PostgresSides.js"
import type { CopyFailed, Source } from "../../database/copy/Sides.js"
import { sqliteSource } from "../../database/copy/SqliteSides.js"

/** A stopped database that is read at one moment. */
export interface Origin {
  readonly source: Source
  /** Fences off the servers that are paused, and keeps all servers from writing. What is read from here on is copied. */
  readonly leave: Effect.Effect<void, StartupError | CopyFailed>
  /** Fails unless the database was kept from servers since then. */
  readonly stillStopped: Effect.Effect<void, StartupError>
}

const unreadable = (name: string, reason: string) =>
  new StartupError({ message: `the database ${name} cannot be read: ${reason}` })

const fileOrigin = (path: string) =>
  Effect.gen(function* () {
    if (!existsSync(path)) return yield* new StartupError({ message: `there is no database at ${path}` })
    yield* lock(path)
    yield* Effect.flatMap(clientOf(path, { readonly: true }), (client) =>
      Effect.provideService(requireCurrentSchema, SqlClient.SqlClient, client)
    ).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    const source = yield* Effect.catchTag(sqliteSource(path), "CopyFailed", ({ reason }) => unreadable(path, reason))
    return { source, leave: Effect.void, stillStopped: Effect.void } satisfies Origin
  })

const requireCurrent = (at: Reached) =>
  Effect.flatMap(schemaState(at), ({ found, isDue, newest }) =>
    isDue
      ? new StartupError({
          message: `the database ${at.name} has schema ${found} and this program ${newest}: run coffer-server migrate on it, then try again`
        })
      : Effect.void
  )

const lockTimeout = "SET LOCAL lock_timeout = '10s'"

/**
 * Takes the database over, because what a paused server wrote later would be in neither database. Then begins to read, and holds
 * the lock until the connection is closed: LOCK does not choose the moment of what is read.
 */
const leaving = (client: ClientBase, at: Reached) =>
  Effect.gen(function* () {
    const run = (...statements: ReadonlyArray<string>) =>
      Effect.forEach(statements, (statement) => command(client, statement), { discard: true })
    yield* run("ROLLBACK", "BEGIN", lockTimeout)
    yield* takeOver(client, at, "copied", "wrapped_keys, secret_versions")
    yield* run("COMMIT", "BEGIN ISOLATION LEVEL REPEATABLE READ", lockTimeout, lockFence)
  })

const postgresOrigin = (target: DatabaseTarget) =>
  Effect.gen(function* () {
    const at = yield* reach(target)
    yield* requireCurrent(at)
    const client = yield* connectWith(at.config)
    yield* requireStopped(client, at.name)
    yield* command(client, readAtOnce)
    // The lock is held as long as the connection answers. A server that knows no fence is seen by its heartbeat.
    const stillStopped = Effect.scoped(
      Effect.zipRight(
        command(client, "SELECT 1"),
        Effect.flatMap(connectWith(at.config), (other) => requireStopped(other, at.name))
      )
    ).pipe(
      Effect.catchTags({
        Refused: ({ reason }) => unreadable(at.name, reason),
        CopyFailed: ({ reason }) => unreadable(at.name, reason)
      })
    )
    return { source: yield* postgresSource(client), leave: leaving(client, at), stillStopped } satisfies Origin
  }).pipe(
    Effect.catchTags({
      Refused: ({ reason }) => unreadable("of --from", reason),
      CopyFailed: ({ reason }) => unreadable("of --from", reason)
    })
  )

/** Opens the database to copy from, for the life of the scope. Fails while a server uses it, or unless its schema is current. */
export const originOf = (place: DatabasePlace) =>
  place._tag === "File" ? fileOrigin(place.path) : postgresOrigin(place.target)

const wrongKey = new StartupError({
  message:
    "SERVICE_MASTER_KEY does not open the database of --from: it was written with another key. Nothing was changed"
})

/** Fails unless the configured master key opens the database. */
export const checkKey = (source: Source) =>
  Effect.gen(function* () {
    const keyring = yield* Keyring
    const opened: Array<boolean> = []
    const table = source.tables.find(({ name }) => name === "wrapped_keys")
    if (table === undefined) return yield* wrongKey
    yield* source.each(table, (rows) =>
      Effect.forEach(rows, (row) =>
        Effect.gen(function* () {
          const named = Object.fromEntries(table.columns.map(({ name }, index) => [name, row[index]]))
          const wrapped = yield* Effect.mapError(Schema.decodeUnknown(NamedWrappedRow)(named), () => wrongKey)
          if (wrapped.name === "check") opened.push(yield* Effect.isSuccess(unwrapBytes(keyring, "check", wrapped)))
        })
      )
    )
    if (opened[0] !== true) return yield* wrongKey
  })
