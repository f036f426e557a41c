import type { Backup } from "@coffer/domain/server/Backup"
import * as Array from "effect/Array"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ServerConfig } from "../../base/Config.js"
import type { DatabaseTarget } from "../../base/config/DatabaseUrl.js"
import { Database } from "../../database/Database.js"
import { databaseOn } from "../offline/OfflineDatabase.js"
import { connectWith, reach } from "../../database/postgres/Reach.js"
import { query } from "../../database/Query.js"
import { instanceAt } from "../offline/OfflineFile.js"
import { makeKeyring } from "../../keys/Keyring.js"
import { StartupError } from "../../base/StartupError.js"
import { drillBackup, drillLine } from "./Drill.js"
import { makeObjectStore } from "./ConfiguredStore.js"
import { backupOf, byTime } from "./ObjectName.js"
import { IdRow } from "../../database/Rows.js"

const failed = (message: string) => new StartupError({ message })

/** Returns the backup with the id; without an id the newest one of the instance, or of all if there is no database. */
const choose = (backups: ReadonlyArray<Backup>, id: string | undefined, instance: Option.Option<string>) => {
  if (id !== undefined) return backups.find((backup) => backup.id === id)
  const candidates = backups.filter((backup) => Option.isNone(instance) || backup.instance === instance.value)
  return Array.isNonEmptyReadonlyArray(candidates) ? Array.max(candidates, byTime) : undefined
}

/** The instance id of a PostgreSQL database; none if it cannot be read. */
const instanceOf = (target: DatabaseTarget) =>
  Effect.gen(function* () {
    const client = yield* connectWith((yield* reach(target)).config)
    const { first } = yield* Effect.provideService(query, Database, databaseOn(client))
    return Option.fromNullable((yield* first(IdRow)`SELECT id FROM instance`({}))?.id)
  }).pipe(
    Effect.scoped,
    Effect.catchAllCause(() => Effect.succeed(Option.none<string>()))
  )

/**
 * `coffer-server drill [ID]`: verifies a backup, also while a server runs. Writes only a scratch file beside the database. Fails
 * if the backup is damaged or encrypted under another key.
 */
export const offlineDrill = (id: string | undefined) =>
  Effect.gen(function* () {
    const { backups: settings, dbPath, masterKey, postgres } = yield* ServerConfig
    if (settings === null) return yield* failed("backups are off: set BACKUP_S3_ENDPOINT or BACKUP_DIR")
    const { backupKey, fingerprint } = yield* makeKeyring(masterKey)
    const store = yield* makeObjectStore(settings)
    const objects = yield* store.list
    const backups = Array.getSomes(objects.map(({ name, size }) => backupOf(name, size)))
    const backup = choose(backups, id, yield* postgres === null ? instanceAt(dbPath) : instanceOf(postgres.target))
    if (backup === undefined) {
      return yield* failed(
        id === undefined ? "the store has no backup of this server" : `the store has no backup ${id}`
      )
    }
    if (backup.key_fingerprint !== fingerprint) {
      return yield* failed(
        `backup ${backup.id} is under another master key: its fingerprint is ${backup.key_fingerprint}, this key's is ${fingerprint}`
      )
    }
    const result = yield* drillBackup({ backup, store, dbPath, masterKey, backupKey }).pipe(
      Effect.catchTag("LocalFailure", ({ reason }) => failed(`the drill failed: ${reason}`))
    )
    if (!result.valid) return yield* failed(drillLine(result))
    yield* Console.log(drillLine(result))
  }).pipe(Effect.scoped)
