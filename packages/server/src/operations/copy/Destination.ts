import { existsSync } from "node:fs"
import { link } from "node:fs/promises"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import type { ClientBase } from "pg"
import { flushToDisk } from "../../base/files/LocalFiles.js"
import { temporaryFile } from "../../database/sqlite/TemporaryFiles.js"
import type { DatabasePlace } from "../../base/config/DatabasePlace.js"
import type { DatabaseTarget } from "../../base/config/DatabaseUrl.js"
import { StartupError } from "../../base/StartupError.js"
import { Database, type Transaction } from "../../database/Database.js"
import { migrate, schemaState } from "../../database/postgres/Migrations.js"
import { databaseOn, explained } from "../offline/OfflineDatabase.js"
import { connectPipelined, reach } from "../../database/postgres/Reach.js"
import { requireStopped } from "../offline/Replicas.js"
import { takeOver } from "../offline/Takeover.js"
import { checkServer } from "../../database/postgres/ServerChecks.js"
import { reasonOf } from "../../base/Reason.js"
import { lock } from "../../database/sqlite/Lock.js"
import { offlineDatabase } from "../../database/sqlite/SqliteDatabase.js"
import { writeNewFile } from "../../database/copy/NewFile.js"
import { command, continueNumbers, found, postgresTarget } from "../../database/copy/PostgresSides.js"
import type { CopyFailed, Target } from "../../database/copy/Sides.js"
import { copied } from "../../database/copy/Tables.js"

interface Filling<A, B, E> {
  /** Inserts all rows. */
  readonly fill: (target: Target) => Effect.Effect<A, E | CopyFailed>
  /** Verifies the copy and makes the changes of a new live database. */
  readonly finish: Effect.Effect<B, E, Database | Transaction>
}

/** A database to copy into: complete and verified afterwards, or as it was before. */
export interface Destination {
  /** Fails unless the database is empty and unused. Changes nothing. */
  readonly check: Effect.Effect<void, StartupError>
  readonly write: <A, B, E>(filling: Filling<A, B, E>) => Effect.Effect<readonly [A, B], E | CopyFailed | StartupError>
}

const fileDestination = (path: string): Destination => {
  const failed = (error: unknown) =>
    new StartupError({ message: `${path} cannot be written (${reasonOf(error)}): it was not created` })
  const taken = new StartupError({ message: `${path} already exists: name a new file` })
  const check = Effect.suspend(() => (existsSync(path) ? taken : Effect.void))
  return {
    check,
    write: ({ fill, finish }) =>
      Effect.gen(function* () {
        yield* lock(path)
        yield* check
        const copy = yield* temporaryFile(path, "copy")
        const { filled } = yield* writeNewFile(copy, fill, () => undefined)
        const finished = yield* Effect.scoped(
          Effect.flatMap(offlineDatabase(copy), (opened) =>
            Effect.provide(
              Effect.flatMap(Database, ({ transaction }) => transaction(finish)),
              opened
            )
          )
        )
        yield* Effect.mapError(flushToDisk(copy), ({ reason }) => failed(new Error(reason)))
        // Unlike a rename, a link does not replace a file that was created meanwhile.
        yield* Effect.tryPromise({ try: () => link(copy, path), catch: failed })
        yield* Effect.mapError(flushToDisk(dirname(path)), ({ reason }) => failed(new Error(reason)))
        return [filled, finished] as const
      }).pipe(Effect.scoped)
  }
}

const occupied = `
  SELECT 'an organization' AS what WHERE EXISTS (SELECT FROM organizations)
  UNION ALL SELECT 'a user' WHERE EXISTS (SELECT FROM users)
  UNION ALL SELECT 'an audit entry' WHERE EXISTS (SELECT FROM audit_entries)`

const requireEmpty = (client: ClientBase, name: string) =>
  Effect.gen(function* () {
    yield* requireStopped(client, name)
    const [row] = yield* found<{ readonly what: string }>(client, occupied)
    if (row !== undefined) {
      return yield* new StartupError({
        message: `the database ${name} is not empty, it has ${row.what}: name an empty database. Nothing was changed`
      })
    }
  })

/** Deletes what a start without users has written: the identity of the database, and events of rate limits. */
const clear = (client: ClientBase, target: Target) =>
  Effect.forEach([...copied(target.tables)].reverse(), ({ name }) => command(client, `DELETE FROM "${name}"`))

/** An empty PostgreSQL database. If the servers log in as another role, that role is granted what it needs. */
export const postgresDestination = (
  postgres: DatabaseTarget,
  role = postgres.user
): Effect.Effect<Destination, StartupError> =>
  Effect.gen(function* () {
    const at = yield* reach(postgres)
    yield* checkServer(at)
    const asItWas = (reason: string) =>
      new StartupError({ message: `the database ${at.name} cannot be written (${reason}): it is as it was before` })
    const connected = <A, E>(use: (client: ClientBase) => Effect.Effect<A, E>) =>
      Effect.scoped(
        Effect.flatMap(
          Effect.mapError(connectPipelined(at.config), ({ reason }) => asItWas(reason)),
          use
        )
      )
    return {
      check: Effect.gen(function* () {
        const { found, isDue } = yield* schemaState(at)
        if (isDue && found === 0) return
        yield* connected((client) => requireEmpty(client, at.name))
      }).pipe(Effect.catchTag("CopyFailed", ({ reason }) => asItWas(reason))),
      write: ({ fill, finish }) =>
        Effect.gen(function* () {
          yield* migrate(at, { role, grants: role !== at.user })
          return yield* connected((client) => {
            const database = databaseOn(client)
            return database
              .transaction(
                Effect.gen(function* () {
                  // A server that starts now waits for this lock, and then finds the copy.
                  yield* takeOver(client, at, "filled", "instance")
                  yield* requireEmpty(client, at.name)
                  const target = yield* postgresTarget(client)
                  yield* clear(client, target)
                  const filled = yield* fill(target)
                  yield* continueNumbers(client)
                  // Without statistics, the statements of the verification and of the first requests would read whole tables.
                  yield* command(client, "ANALYZE")
                  return [filled, yield* finish] as const
                })
              )
              .pipe(Effect.provideService(Database, database))
          })
        }).pipe(
          explained({
            unchanged: (reason) => asItWas(reason).message,
            unknown: `the connection to the database ${at.name} was lost while the copy was committed: run the command again, which refuses if the copy is there`
          })
        )
    }
  })

/** The database to copy into. Fails if it cannot be reached. */
export const destinationOf = (place: DatabasePlace): Effect.Effect<Destination, StartupError> =>
  place._tag === "File" ? Effect.succeed(fileDestination(place.path)) : postgresDestination(place.target)
