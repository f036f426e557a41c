import { SqlClient } from "@effect/sql"
import { Context, Effect, Layer, Schema } from "effect"
import { createSecretKey, randomBytes, type KeyObject } from "node:crypto"
import { now } from "../database/Time.js"
import { uuidV4 } from "../database/Uuid.js"
import { rowsOf, transaction } from "../database/Writer.js"
import { StartupError } from "../StartupError.js"
import { Keyring, unwrapBytes, wrapBytes } from "./Keyring.js"

/** The database's own identity, and the key of its audit chains. */
export class Instance extends Context.Tag("@coffer/server/Instance")<
  Instance,
  {
    /** A UUID made with the database; a restored copy keeps it. */
    readonly id: string
    /** 64 random bits in hexadecimal, made anew in a restored file: no ETag outlives what it named. */
    readonly epoch: string
    readonly auditKey: KeyObject
  }
>() {}

const InstanceRow = Schema.Struct({ id: Schema.String, epoch: Schema.String })
const WrappedRow = Schema.Struct({
  format: Schema.Number,
  kek_id: Schema.String,
  nonce: Schema.Uint8ArrayFromSelf,
  ciphertext: Schema.Uint8ArrayFromSelf
})

const checkText = "coffer master key check"

const find = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* rowsOf(WrappedRow)(
      sql`SELECT format, kek_id, nonce, ciphertext FROM wrapped_keys WHERE name = ${name}`
    )
    return row === undefined
      ? yield* new StartupError({ message: `the database has lost its wrapped key "${name}": restore a backup` })
      : row
  })

const create = transaction(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const keyring = yield* Keyring
    const wrapped = { check: Buffer.from(checkText), audit: randomBytes(32) }
    for (const [name, bytes] of Object.entries(wrapped)) {
      const { ciphertext, format, kek_id, nonce } = yield* wrapBytes(keyring, name, bytes)
      yield* sql`INSERT INTO wrapped_keys (name, format, kek_id, nonce, ciphertext)
        VALUES (${name}, ${format}, ${kek_id}, ${nonce}, ${ciphertext})`
    }
    const row = { id: yield* uuidV4, epoch: randomBytes(8).toString("hex"), created_at: yield* now }
    yield* sql`INSERT INTO instance ${sql.insert(row)}`
    return { id: row.id, epoch: row.epoch }
  })
)

/**
 * Knows the database again, or makes a new one's identity and keys. Fails before anything is written when the master key
 * is not the one that the database was written with.
 */
export const InstanceLive = Layer.effect(
  Instance,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const keyring = yield* Keyring
    const [found] = yield* rowsOf(InstanceRow)(sql`SELECT id, epoch FROM instance`)
    const { epoch, id } = found ?? (yield* create)
    yield* Effect.flatMap(find("check"), (row) => unwrapBytes(keyring, "check", row)).pipe(
      Effect.catchTag(
        "DecryptionFailed",
        () =>
          new StartupError({
            message:
              "SERVICE_MASTER_KEY does not open this database: it was written with another key. Nothing was changed; give the right key, or another SERVICE_DB_PATH"
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
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.die(error)))
)
