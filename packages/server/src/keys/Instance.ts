import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createSecretKey, randomBytes, type KeyObject } from "node:crypto"
import { Database } from "../database/Database.js"
import { query } from "../database/Query.js"
import { now } from "../base/Time.js"
import { uuidV4 } from "../base/Uuid.js"
import { StartupError } from "../base/StartupError.js"
import { Keyring, unwrapBytes, wrapBytes } from "./Keyring.js"
import { checkContent, emptyList } from "./ListEnd.js"
import { WrappedRow } from "./WrappedRows.js"

/** The identity of the database, and the key of its audit chains. */
export class Instance extends Context.Tag("@coffer/server/Instance")<
  Instance,
  {
    /** A UUID, created with the database and kept by restored copies. */
    readonly id: string
    /** 64 random bits in hexadecimal. A restore sets a new epoch, which invalidates all ETags. */
    readonly epoch: string
    readonly auditKey: KeyObject
  }
>() {}

const InstanceRow = Schema.Struct({ id: Schema.String, epoch: Schema.String })
const statements = Effect.map(query, ({ first, write }) => ({
  instance: first(InstanceRow)`SELECT id, epoch FROM instance`,

  wrappedKey: first(WrappedRow)`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = ${"name"}`,

  insertInstance: write`
    INSERT INTO instance (id, epoch, created_at) VALUES (${"id"}, ${"epoch"}, ${"now"})`,

  insertWrappedKey: write`
    INSERT INTO wrapped_keys (name, format, kek_id, nonce, ciphertext)
    VALUES (${"name"}, ${"format"}, ${"kek_id"}, ${"nonce"}, ${"ciphertext"})`
}))

const find = (name: string) =>
  Effect.gen(function* () {
    const { wrappedKey } = yield* statements
    return (
      (yield* wrappedKey({ name })) ??
      (yield* new StartupError({ message: `the database has lost its wrapped key "${name}": restore a backup` }))
    )
  })

const create = Effect.gen(function* () {
  const { insertInstance, insertWrappedKey } = yield* statements
  const { lock, transaction } = yield* Database
  const { instance } = yield* statements
  const keyring = yield* Keyring
  return yield* transaction(
    Effect.gen(function* () {
      yield* lock("instance")
      // Another server may have created it since.
      const found = yield* instance({})
      if (found !== undefined) return found
      for (const [name, bytes] of [
        ["check", checkContent(emptyList)],
        ["audit", randomBytes(32)]
      ] as const) {
        const { ciphertext, format, kek_id, nonce } = yield* wrapBytes(keyring, name, bytes)
        yield* insertWrappedKey({ name, format, kek_id, nonce, ciphertext })
      }
      const row = { id: yield* uuidV4, epoch: randomBytes(8).toString("hex") }
      yield* insertInstance({ ...row, now: yield* now })
      return row
    })
  )
})

/**
 * Reads the identity of the database, or creates it in a new one. If the master key does not match the database, it
 * fails before anything is written.
 */
export const InstanceLive = Layer.effect(
  Instance,
  Effect.gen(function* () {
    const keyring = yield* Keyring
    const { instance } = yield* statements
    const { epoch, id } = (yield* instance({})) ?? (yield* create)
    yield* Effect.flatMap(find("check"), (row) => unwrapBytes(keyring, "check", row)).pipe(
      Effect.catchTag(
        "DecryptionFailed",
        () =>
          new StartupError({
            message:
              "SERVICE_MASTER_KEY does not open this database: it was written with another key. Nothing was changed; set the right key, or name another database with SERVICE_DB_PATH or SERVICE_DATABASE_URL"
          })
      )
    )
    const auditKey = yield* Effect.flatMap(find("audit"), (row) => unwrapBytes(keyring, "audit", row)).pipe(
      Effect.catchTag(
        "DecryptionFailed",
        () => new StartupError({ message: "the database's audit key is damaged: restore a backup" })
      )
    )
    return { id, epoch, auditKey: createSecretKey(auditKey) }
  })
)
