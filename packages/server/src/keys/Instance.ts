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
import { checkContent, emptyList } from "./ListEnd.js"
import { wrappedKeys } from "./WrappedKeys.js"

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

  insertInstance: write`
    INSERT INTO instance (id, epoch, created_at) VALUES (${"id"}, ${"epoch"}, ${"now"})`
}))

/** Reads a wrapped key. If it does not open, the start fails with `message`. */
const read = (name: string, message: string) =>
  Effect.gen(function* () {
    const keys = yield* wrappedKeys
    return (
      (yield* Effect.catchTag(keys.read(name), "DecryptionFailed", () => new StartupError({ message }))) ??
      (yield* new StartupError({ message: `the database has lost its wrapped key "${name}": restore a backup` }))
    )
  })

const create = Effect.gen(function* () {
  const { insertInstance, instance } = yield* statements
  const { lock, transaction } = yield* Database
  const keys = yield* wrappedKeys
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
        yield* keys.keep(name, bytes)
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
    const { instance } = yield* statements
    const { epoch, id } = (yield* instance({})) ?? (yield* create)
    yield* read(
      "check",
      "SERVICE_MASTER_KEY does not open this database: it was written with another key. Nothing was changed; set the right key, or name another database with SERVICE_DB_PATH or SERVICE_DATABASE_URL"
    )
    const auditKey = yield* read("audit", "the database's audit key is damaged: restore a backup")
    return { id, epoch, auditKey: createSecretKey(auditKey) }
  })
)
