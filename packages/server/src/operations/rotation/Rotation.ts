import type * as Redacted from "effect/Redacted"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createSecretKey, type KeyObject } from "node:crypto"
import { makeAppend } from "../../audit/Append.js"
import { systemLog } from "../../audit/AuditEvent.js"
import type { Draft } from "../../audit/Chain.js"
import { makeLogList } from "../../audit/LogList.js"
import { auditRepo } from "../../audit/Repo.js"
import { Database } from "../../database/Database.js"
import { explained } from "../offline/OfflineDatabase.js"
import { query } from "../../database/Query.js"
import { reasonOf } from "../../base/Reason.js"
import { uuidV7At } from "../../base/Uuid.js"
import { isSqlError } from "../../database/SqlErrors.js"
import { StartupError } from "../../base/StartupError.js"
import { open, rewrap } from "../../keys/Envelope.js"
import { Keyring, makeKeyring, type Subkeys, unwrapBytes, wrapBytes } from "../../keys/Keyring.js"
import { NamedWrappedRow } from "../../keys/WrappedRows.js"
import { anySchemaAt, type Leftovers, stoppedAt } from "./StoppedDatabase.js"
import { eachVersion } from "./RotatedVersions.js"
import { CountRow } from "../../database/Rows.js"

/** For the keys of a rotation, which the server's settings may name too. */
export { keyFromCommand } from "../../base/config/KeyCommand.js"

export interface RotationOptions<E> {
  /** The database's file, or the URL of a PostgreSQL database. */
  readonly db: string
  /** 64 hexadecimal digits, as is `newKey`. */
  readonly oldKey: Redacted.Redacted
  readonly newKey: Redacted.Redacted
  /** Shows the new key to the operator. The rotation is committed only after this effect succeeds. */
  readonly publish: (newKey: Redacted.Redacted) => Effect.Effect<void, E>
  /** Called after each step. */
  readonly progress: (done: number, total: number) => Effect.Effect<void>
}

export interface Rotated extends Leftovers {
  /** How many data keys were rewrapped. */
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

const incomplete = new StartupError({
  message:
    "the database has versions of secrets without a secret or an environment: nothing was changed; restore a backup first"
})

const statements = Effect.map(query, ({ all, one, write }) => ({
  wrappedKeys: all(NamedWrappedRow)`SELECT name, format, kek_id, nonce, ciphertext FROM wrapped_keys`,

  setWrappedKey: write`
    UPDATE wrapped_keys SET format = ${"format"}, kek_id = ${"kek_id"}, nonce = ${"nonce"}, ciphertext = ${"ciphertext"}
    WHERE name = ${"name"}`,

  setDataKey: write`
    UPDATE secret_versions
    SET kek_id = ${"kek_id"}, wrapped_key = ${"wrapped_key"}
    WHERE secret_id = ${"secret_id"} AND version = ${"version"}`,

  countVersions: one(CountRow)`SELECT count(*) AS count FROM secret_versions WHERE destroyed_at IS NULL`
}))

/** Rewraps the check text and the audit key, and returns the audit key. */
const rewrapItems = (from: Subkeys, to: Subkeys) =>
  Effect.gen(function* () {
    const { setWrappedKey, wrappedKeys } = yield* statements
    const rows = yield* wrappedKeys({})
    if (!rows.some(({ name }) => name === "check")) return yield* wrongKey
    let auditKey: Uint8Array | null = null
    for (const { name, ...row } of rows) {
      const bytes = yield* unwrapBytes(from, name, row).pipe(Effect.catchTag("DecryptionFailed", () => wrongKey))
      if (name === "audit") auditKey = bytes
      const { ciphertext, format, kek_id, nonce } = yield* wrapBytes(to, name, bytes)
      yield* setWrappedKey({ name, format, kek_id, nonce, ciphertext })
    }
    return auditKey === null ? yield* wrongKey : createSecretKey(auditKey)
  })

/** Records the rotation in the system's audit log. Call in the transaction of the rotation. */
const record = (auditKey: KeyObject, from: Subkeys, to: Subkeys, versions: number) =>
  Effect.gen(function* () {
    const list = yield* Effect.provideService(makeLogList(auditKey), Keyring, to)
    const append = makeAppend(yield* auditRepo, list, auditKey)
    const millis = yield* Clock.currentTimeMillis
    const entry: Draft = {
      id: uuidV7At(millis),
      log: systemLog,
      org_id: null,
      actor_type: "system",
      actor_id: null,
      actor_name: "coffer master-key rotate",
      action: "key.rotate",
      resource_type: "server",
      resource_id: null,
      ip_address: null,
      metadata: JSON.stringify({ old_fingerprint: from.fingerprint, new_fingerprint: to.fingerprint, versions })
    }
    yield* append(systemLog, [entry], millis)
  })

const rewrapVersions = (from: Subkeys, to: Subkeys, tick: Effect.Effect<void>) =>
  Effect.flatMap(statements, ({ setDataKey }) =>
    eachVersion((binding, row) =>
      Effect.gen(function* () {
        const { kek_id, wrapped_key } = yield* Effect.mapError(rewrap(from, to, binding, row), () =>
          damaged(row.key, row.version)
        )
        yield* setDataKey({ secret_id: row.secret_id, version: row.version, kek_id, wrapped_key })
        yield* tick
      })
    )
  )

/** Reads everything back, decrypts it with the new key, including the values, and returns the number of versions. */
const verify = (to: Subkeys, tick: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const { wrappedKeys } = yield* statements
    for (const row of yield* wrappedKeys({})) {
      yield* unwrapBytes(to, row.name, row).pipe(Effect.catchTag("DecryptionFailed", () => wrongKey))
    }
    return yield* eachVersion((binding, row) =>
      Effect.zipLeft(
        Effect.mapError(open(to, binding, row), () => damaged(row.key, row.version)),
        tick
      )
    )
  })

/** Turns the defect of a failed statement into a message: its usual cause is a full disk, not a bug. */
const orUnchanged = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StartupError, R> =>
  Effect.catchSomeDefect(effect, (defect) =>
    isSqlError(defect)
      ? Option.some(
          new StartupError({
            message: `the database cannot be written (${reasonOf(defect.cause)}): nothing was changed`
          })
        )
      : Option.none()
  )

const outcomes = {
  unchanged: (reason: string) => `the database cannot be written (${reason}): nothing was changed`,
  unknown:
    "the connection to the database was lost while the rotation was committed: keep both keys, and try both with coffer-server check"
}

/** Whether a master key matches an offline database. Changes nothing. */
export const opensDatabase = (db: string, key: Redacted.Redacted): Effect.Effect<boolean, StartupError> =>
  Effect.gen(function* () {
    const keyring = yield* Effect.mapError(
      makeKeyring(key),
      () => new StartupError({ message: "a master key must be 64 hexadecimal digits" })
    )
    const { wrappedKeys } = yield* Effect.provideServiceEffect(statements, Database, anySchemaAt(db))
    const check = (yield* orUnchanged(wrappedKeys({}))).find(({ name }) => name === "check")
    return check !== undefined && (yield* Effect.isSuccess(unwrapBytes(keyring, check.name, check)))
  }).pipe(Effect.scoped)

/**
 * Rotates the master key of an offline database: rewraps and verifies every data key in one transaction. The new key is
 * published before the commit. Otherwise a crash after the commit would lose the only key that opens the database.
 */
export const rotate = <E>(options: RotationOptions<E>): Effect.Effect<Rotated, StartupError | E> =>
  Effect.gen(function* () {
    const { db, newKey, oldKey, publish } = options
    const invalid = (which: string) => () =>
      new StartupError({ message: `the ${which} master key must be 64 hexadecimal digits` })
    const from = yield* Effect.mapError(makeKeyring(oldKey), invalid("old"))
    const to = yield* Effect.mapError(makeKeyring(newKey), invalid("new"))
    if (from.fingerprint === to.fingerprint) {
      return yield* new StartupError({ message: "the new master key is the old one: nothing was changed" })
    }
    const { cleanUp, database, guard } = yield* stoppedAt(db)
    return yield* Effect.gen(function* () {
      const { transaction } = yield* Database
      const { countVersions } = yield* statements
      let count = 0
      let done = 0
      // Each version takes two steps: it is written, and then read back.
      const tick = Effect.suspend(() => options.progress(++done, 2 * count))
      const versions = yield* transaction(
        Effect.gen(function* () {
          yield* guard
          count = (yield* countVersions({})).count
          const auditKey = yield* rewrapItems(from, to)
          const rewrapped = yield* rewrapVersions(from, to, tick)
          const verified = yield* verify(to, tick)
          if (rewrapped !== count || verified !== count) return yield* incomplete
          yield* record(auditKey, from, to, rewrapped)
          yield* publish(newKey)
          return rewrapped
        })
      )
      const rotated: Rotated = {
        versions,
        oldFingerprint: from.fingerprint,
        newFingerprint: to.fingerprint,
        ...(yield* cleanUp)
      }
      return rotated
    }).pipe(orUnchanged, explained(outcomes), Effect.provide(database))
  }).pipe(Effect.scoped)
