import { existsSync, readdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { parsePlace } from "../../base/config/DatabasePlace.js"
import type { DatabaseTarget } from "../../base/config/DatabaseUrl.js"
import { command, found } from "../../database/copy/PostgresSides.js"
import { Database } from "../../database/Database.js"
import { schemaState } from "../../database/postgres/Migrations.js"
import { databaseOn } from "../offline/OfflineDatabase.js"
import { connectPipelined, reach } from "../../database/postgres/Reach.js"
import { requireStopped } from "../offline/Replicas.js"
import { takeOver } from "../offline/Takeover.js"
import { rewriteFile } from "../../database/sqlite/Maintain.js"
import { databaseOfAnySchema, offlineDatabase } from "../../database/sqlite/SqliteDatabase.js"
import { StartupError } from "../../base/StartupError.js"

/** The data that a rotation leaves under the old master key. */
export interface Leftovers {
  /** Why gaps in the pages may still hold data keys under the old master key, and what to do; null if they do not. */
  readonly inGaps: string | null
  /** Restored and replaced databases in the same folder, which are still under the old master key. */
  readonly underOldKey: ReadonlyArray<string>
}

/** Lists the copies of a database in its folder whose names continue with one of `kinds`. */
const copies = (dbPath: string, ...kinds: ReadonlyArray<string>) => {
  const folder = dirname(dbPath)
  return readdirSync(folder)
    .filter((name) => kinds.some((kind) => name.startsWith(`${basename(dbPath)}.${kind}`)))
    .map((name) => join(folder, name))
}

/** Removes the copies made before migrations, which are still under the old key. */
const removeCopies = (dbPath: string) =>
  Effect.sync(() => {
    for (const path of copies(dbPath, "before-")) rmSync(path)
  })

/** A stopped database. */
export interface Stopped {
  readonly database: Context.Context<Database>
  /** Keeps servers from writing. Call in the transaction of the rotation. */
  readonly guard: Effect.Effect<void, StartupError>
  /** Removes what is left under the old key after the rotation. */
  readonly cleanUp: Effect.Effect<Leftovers>
}

const placeOf = (db: string) =>
  Effect.mapError(parsePlace(db, {}), (rule) => new StartupError({ message: `the database's name ${rule}` }))

/** Connects to a PostgreSQL database. Fails while a server runs on it. */
const connected = (target: DatabaseTarget) =>
  Effect.gen(function* () {
    const at = yield* reach(target)
    const { found, isDue, newest } = yield* schemaState(at)
    if (isDue) {
      return yield* new StartupError({
        message: `the database ${at.name} has schema ${found} and this program ${newest}: run coffer-server migrate, then try again`
      })
    }
    const client = yield* Effect.mapError(
      connectPipelined(at.config),
      ({ reason }) => new StartupError({ message: `the database ${at.name} cannot be reached: ${reason}` })
    )
    return { client, at } as const
  })

const notRewritten =
  "the file could not be rewritten, so data keys under the old key may be left in gaps of it: see that the disk has room for a second copy, and rotate once more"
const notVacuumed =
  "VACUUM could not run, so data keys under the old key may be left in the tables: let their owner run VACUUM secret_versions, wrapped_keys"

const owner = "SELECT pg_has_role(relowner, 'USAGE') AS owns FROM pg_class WHERE oid = 'secret_versions'::regclass"

const stoppedPostgres = (target: DatabaseTarget) =>
  Effect.gen(function* () {
    const { at, client } = yield* connected(target)
    yield* requireStopped(client, at.name)
    const stopped: Stopped = {
      database: Context.make(Database, databaseOn(client)),
      // A server that starts now waits until the rotation is committed, and then refuses the old key.
      guard: takeOver(client, at, "rotated", "wrapped_keys, secret_versions"),
      // The earlier versions of the rows hold data keys under the old master key. VACUUM skips tables of another role.
      cleanUp: Effect.map(
        Effect.isSuccess(
          Effect.zipRight(
            Effect.filterOrFail(found<{ readonly owns: number }>(client, owner), ([row]) => row?.owns === 1),
            command(client, "VACUUM secret_versions, wrapped_keys")
          )
        ),
        (isVacuumed) => ({ inGaps: isVacuumed ? null : notVacuumed, underOldKey: [] })
      )
    }
    return stopped
  })

const stoppedFile = (path: string) =>
  Effect.gen(function* () {
    if (!existsSync(path)) {
      return yield* new StartupError({ message: `there is no database at ${path}: name its file with --db` })
    }
    const database = yield* offlineDatabase(path)
    const stopped: Stopped = {
      database,
      guard: Effect.void,
      cleanUp: Effect.gen(function* () {
        const isRewritten = yield* rewriteFile
        yield* removeCopies(path)
        return { inGaps: isRewritten ? null : notRewritten, underOldKey: copies(path, "restore.", "replaced-") }
      }).pipe(Effect.provide(database))
    }
    return stopped
  })

/** Opens a database that no server uses, by its file or URL. */
export const stoppedAt = (db: string) =>
  Effect.flatMap(placeOf(db), (place) =>
    place._tag === "File" ? stoppedFile(place.path) : stoppedPostgres(place.target)
  )

/** Opens a database for reading, whatever its schema and whether or not a server uses it. */
export const anySchemaAt = (db: string) =>
  Effect.flatMap(placeOf(db), (place) =>
    place._tag === "File"
      ? Effect.map(databaseOfAnySchema(place.path), Context.get(Database))
      : Effect.map(connected(place.target), ({ client }) => databaseOn(client))
  )
