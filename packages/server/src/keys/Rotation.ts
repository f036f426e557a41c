import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { EnvId, OrgId, ProjectId, SecretId, SecretKey } from "@coffer/domain/Names"
import type { Redacted } from "effect"
import { Effect, Schema } from "effect"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { setPragmas } from "../database/Database.js"
import { guardDatabaseFile } from "../database/Files.js"
import { lock } from "../database/Lock.js"
import { requireCurrentSchema } from "../database/Migrations.js"
import { truncateWriteAheadLog } from "../database/WriteAheadLog.js"
import { isSqlError, rowsOf } from "../database/Writer.js"
import { StartupError } from "../StartupError.js"
import { type Binding, open, rewrap } from "./Envelope.js"
import { makeKeyring, type Subkeys, unwrapBytes, wrapBytes } from "./Keyring.js"

const stride = 500

const WrappedRow = Schema.Struct({
  name: Schema.String,
  format: Schema.Number,
  kek_id: Schema.String,
  nonce: Schema.Uint8ArrayFromSelf,
  ciphertext: Schema.Uint8ArrayFromSelf
})

const CountRow = Schema.Struct({ count: Schema.Number })

const VersionRow = Schema.Struct({
  org_id: OrgId,
  project_id: ProjectId,
  env_id: EnvId,
  secret_id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  format: Schema.Number,
  kek_id: Schema.String,
  ciphertext: Schema.Uint8ArrayFromSelf,
  nonce: Schema.Uint8ArrayFromSelf,
  wrapped_key: Schema.Uint8ArrayFromSelf,
  key_nonce: Schema.Uint8ArrayFromSelf
})

export interface RotationOptions<E> {
  readonly dbPath: string
  /** 64 hexadecimal digits, as is `newKey`. */
  readonly oldKey: Redacted.Redacted
  readonly newKey: Redacted.Redacted
  /** Shows the new key to the operator. Nothing is committed before it succeeds, or at all when it fails. */
  readonly publish: (newKey: Redacted.Redacted) => Effect.Effect<void, E>
  readonly progress: (done: number, total: number) => Effect.Effect<void>
}

export interface Rotated {
  /** How many data keys were wrapped anew. */
  readonly versions: number
  readonly oldFingerprint: string
  readonly newFingerprint: string
}

const wrongKey = new StartupError({
  message: "the old master key does not open this database: nothing was changed"
})

const damaged = (key: string, version: number) =>
  new StartupError({
    message: `version ${version} of secret ${key} does not authenticate: nothing was changed; restore a backup first`
  })

const rewrapItems = (from: Subkeys, to: Subkeys) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* rowsOf(WrappedRow)(sql`SELECT name, format, kek_id, nonce, ciphertext FROM wrapped_keys`)
    if (!rows.some(({ name }) => name === "check")) return yield* wrongKey
    for (const row of rows) {
      const bytes = yield* unwrapBytes(from, row.name, row).pipe(Effect.catchTag("DecryptionFailed", () => wrongKey))
      const { ciphertext, format, kek_id, nonce } = yield* wrapBytes(to, row.name, bytes)
      yield* sql`UPDATE wrapped_keys SET format = ${format}, kek_id = ${kek_id}, nonce = ${nonce},
        ciphertext = ${ciphertext} WHERE name = ${row.name}`
    }
  })

/** A page of versions with their places, removed ones' too, behind a version in the order of the table. */
const page = (secretId: string, version: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    rowsOf(VersionRow)(
      sql`SELECT p.org_id AS org_id, e.project_id AS project_id, s.env_id AS env_id, v.secret_id AS secret_id,
          s.key AS key, v.version AS version, v.format AS format, v.kek_id AS kek_id, v.ciphertext AS ciphertext,
          v.nonce AS nonce, v.wrapped_key AS wrapped_key, v.key_nonce AS key_nonce
        FROM secret_versions v JOIN secrets s ON s.id = v.secret_id JOIN environments e ON e.id = s.env_id
        JOIN projects p ON p.id = e.project_id
        WHERE v.destroyed_at IS NULL AND (v.secret_id, v.version) > (${secretId}, ${version})
        ORDER BY v.secret_id, v.version LIMIT ${stride}`
    )
  )

const rewrapVersions = <E>(from: Subkeys, to: Subkeys, options: RotationOptions<E>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ count: total } = { count: 0 }] = yield* rowsOf(CountRow)(
      sql`SELECT count(*) AS count FROM secret_versions WHERE destroyed_at IS NULL`
    )
    let done = 0
    let last = { secret_id: "", version: 0 }
    for (;;) {
      const rows = yield* page(last.secret_id, last.version)
      for (const row of rows) {
        const binding: Binding = {
          orgId: row.org_id,
          projectId: row.project_id,
          envId: row.env_id,
          secretId: row.secret_id,
          key: row.key,
          version: row.version
        }
        const rewrapped = yield* rewrap(from, to, binding, row).pipe(
          Effect.tap((sealed) => open(to, binding, sealed)),
          Effect.catchTag("DecryptionFailed", () => damaged(row.key, row.version))
        )
        yield* sql`UPDATE secret_versions SET kek_id = ${rewrapped.kek_id}, wrapped_key = ${rewrapped.wrapped_key},
            key_nonce = ${rewrapped.key_nonce}
          WHERE secret_id = ${row.secret_id} AND version = ${row.version}`
        last = row
      }
      done += rows.length
      yield* options.progress(done, total)
      if (rows.length < stride) return done
    }
  })

/** Copies made before a migration are under the old key still. */
const removeCopies = (dbPath: string) =>
  Effect.sync(() => {
    const prefix = `${basename(dbPath)}.before-`
    for (const name of readdirSync(dirname(dbPath))) {
      if (name.startsWith(prefix)) rmSync(join(dirname(dbPath), name))
    }
  })

/**
 * Puts a database under a new master key, offline: every data key is unwrapped, wrapped anew and tried out, in one
 * transaction; values and their nonces stay as they are. The new key is shown before anything is committed, so that no key
 * is ever in force that nobody has seen; killed at any moment, the database is under the old key or the one shown.
 */
export const rotate = <E>(options: RotationOptions<E>): Effect.Effect<Rotated, StartupError | E> =>
  Effect.gen(function* () {
    const { dbPath, newKey, oldKey, publish } = options
    if (!existsSync(dbPath)) {
      return yield* new StartupError({ message: `there is no database at ${dbPath}: name its file with --db` })
    }
    const invalid = (which: string) => () =>
      new StartupError({ message: `the ${which} master key must be 64 hexadecimal digits` })
    const from = yield* Effect.mapError(makeKeyring(oldKey), invalid("old"))
    const to = yield* Effect.mapError(makeKeyring(newKey), invalid("new"))
    if (from.fingerprint === to.fingerprint) {
      return yield* new StartupError({ message: "the new master key is the old one: nothing was changed" })
    }
    yield* guardDatabaseFile(dbPath)
    yield* lock(dbPath)
    const client = yield* SqliteClient.make({ filename: dbPath })
    const versions = yield* Effect.gen(function* () {
      yield* setPragmas
      yield* requireCurrentSchema
      const rewrapped = yield* client.withTransaction(
        Effect.gen(function* () {
          yield* rewrapItems(from, to)
          const count = yield* rewrapVersions(from, to, options)
          yield* publish(newKey)
          return count
        })
      )
      yield* truncateWriteAheadLog
      return rewrapped
    }).pipe(Effect.provideService(SqlClient.SqlClient, client))
    yield* removeCopies(dbPath)
    const rotated: Rotated = { versions, oldFingerprint: from.fingerprint, newFingerprint: to.fingerprint }
    return rotated
  }).pipe(
    Effect.catchIf(isSqlError, (error) => Effect.die(error)),
    Effect.scoped,
    Effect.provide(Reactivity.layer)
  )
