import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { rotate } from "@coffer/server/operations/rotation/Rotation"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Data, Effect, Redacted } from "effect"
import {
  freshPath,
  invariants,
  masterKey,
  organization,
  person,
  rawAt,
  readSecret,
  servicesAt,
  setSecret
} from "../support/Services.js"

const newKey = "f0".repeat(32)
const silent = () => Effect.void

/** A database with three versions of a secret, one of them destroyed, and a removed environment's. */
const filled = (path: string) =>
  Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
    yield* setSecret(ada, "B", "unrelated")
  }).pipe(Effect.provide(servicesAt(path)), Effect.scoped)

const rotated = (path: string, options: { readonly from?: string; readonly to?: string } = {}) => {
  const published: Array<string> = []
  return rotate({
    db: path,
    oldKey: Redacted.make(options.from ?? masterKey),
    newKey: Redacted.make(options.to ?? newKey),
    publish: (key) => Effect.sync(() => void published.push(Redacted.value(key))),
    progress: silent
  }).pipe(Effect.map((result) => ({ ...result, published })))
}

const readAll = Effect.gen(function* () {
  const ada = yield* person("ada@example.com")
  const versions = yield* Effect.forEach([1, 2, 3], (version) => readSecret(ada, "A", { version }))
  return versions.map(({ value }) => value)
})

const columns = (path: string) => {
  const database = new Sqlite(path, { readonly: true })
  const rows = database
    .prepare("SELECT secret_id, version, hex(ciphertext) AS ciphertext, kek_id FROM secret_versions")
    .all() as Array<{ ciphertext: string; kek_id: string }>
  database.close()
  return rows
}

class PipeClosed extends Data.TaggedError("PipeClosed") {}

describe("a rotation of the master key", () => {
  it.scoped("is recorded in the log of the server with both fingerprints, and the chain goes on", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const { newFingerprint, oldFingerprint, versions } = yield* rotated(path)
      yield* invariants(path, newKey)
      const db = yield* rawAt(path, { readonly: true })
      const entry = db
        .prepare<[], { log: string; actor_type: string; metadata: string }>(
          "SELECT log, actor_type, metadata FROM audit_entries WHERE action = 'key.rotate'"
        )
        .all()
      assert.deepStrictEqual(
        entry.map(({ metadata, ...rest }) => ({ ...rest, metadata: JSON.parse(metadata) as unknown })),
        [
          {
            log: "system",
            actor_type: "system",
            metadata: { old_fingerprint: oldFingerprint, new_fingerprint: newFingerprint, versions }
          }
        ]
      )
    })
  )

  it.scoped("gives every value back under the new key, and nothing under the old one", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const before = columns(path)
      const result = yield* rotated(path)
      assert.strictEqual(result.versions, 4)
      assert.deepStrictEqual(result.published, [newKey])
      const values = yield* readAll.pipe(
        Effect.provide(servicesAt(path, { SERVICE_MASTER_KEY: newKey })),
        Effect.scoped
      )
      assert.deepStrictEqual(values, ["one", "two", "three"])
      const after = columns(path)
      assert.deepStrictEqual(
        after.map(({ ciphertext }) => ciphertext),
        before.map(({ ciphertext }) => ciphertext),
        "values and their nonces stay as they are"
      )
      assert.notInclude(
        after.map(({ kek_id }) => kek_id),
        before[0]?.kek_id ?? ""
      )
      const refused = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, servicesAt(path))))
      assert.include(String(refused), "SERVICE_MASTER_KEY does not open this database")
      yield* invariants(path, newKey)
    })
  )

  it.scoped("leaves no data key under the old key in any byte of the files, not in the gaps of pages either", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const wrapped = yield* Effect.scoped(
        Effect.map(rawAt(path), (db) => {
          const keys = db.prepare<[], Buffer>("SELECT wrapped_key FROM secret_versions").pluck().all()
          // A stale copy in a page that is in use, as cells that move between pages leave them now and then.
          db.pragma("secure_delete = OFF")
          const insert = db.prepare("INSERT INTO login_codes VALUES (?, 'stale@example.com', ?, 'replaced', '', '')")
          keys.forEach((key, index) => insert.run(String(index), key))
          db.exec("DELETE FROM login_codes WHERE id > '0'")
          db.exec("UPDATE login_codes SET mac = x'00'")
          return keys
        })
      )
      assert.strictEqual(wrapped.length, 4)
      const copies = (content: Buffer) =>
        wrapped.filter((bytes) => content.indexOf(bytes) !== content.lastIndexOf(bytes))
      assert.isAbove(copies(readFileSync(path)).length, 0, "there are stale copies")
      assert.isNull((yield* rotated(path)).inGaps)
      const after = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name)))
      assert.strictEqual(wrapped.filter((bytes) => after.some((content) => content.includes(bytes))).length, 0)
      yield* invariants(path, newKey)
    })
  )

  it.scoped("changes nothing when the new key cannot be shown", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const before = columns(path)
      const failure = yield* Effect.flip(
        rotate({
          db: path,
          oldKey: Redacted.make(masterKey),
          newKey: Redacted.make(newKey),
          publish: () => new PipeClosed(),
          progress: silent
        })
      )
      assert.strictEqual(failure._tag, "PipeClosed")
      assert.deepStrictEqual(columns(path), before)
      const values = yield* readAll.pipe(Effect.provide(servicesAt(path)), Effect.scoped)
      assert.deepStrictEqual(values, ["one", "two", "three"])
    })
  )

  it.scoped("refuses the wrong old key, the same key, a damaged version and a missing database", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const refusal = (options: Parameters<typeof rotated>[1]) =>
        Effect.map(Effect.flip(rotated(path, options)), String)
      assert.include(yield* refusal({ from: "aa".repeat(32) }), "does not open this database")
      assert.include(yield* refusal({ to: masterKey }), "is the old one")
      assert.include(yield* refusal({ to: "short" }), "64 hexadecimal digits")
      assert.include(String(yield* Effect.flip(rotated(`${path}.nope`))), "there is no database")
      const database = new Sqlite(path)
      database.exec("UPDATE secret_versions SET ciphertext = zeroblob(length(ciphertext)) WHERE version = 2")
      database.close()
      assert.include(yield* refusal({}), "version 2 of secret A does not authenticate")
    })
  )

  it.scoped("refuses to run beside a server, and removes the copies that are under the old key", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const message = yield* Effect.flip(rotated(path)).pipe(Effect.provide(servicesAt(path)), Effect.scoped)
      assert.include(String(message), "in use by another")
      writeFileSync(`${path}.before-0002`, readFileSync(path), { mode: 0o600 })
      yield* rotated(path)
      assert.throws(() => readFileSync(`${path}.before-0002`))
    })
  )
})
