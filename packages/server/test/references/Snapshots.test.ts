import { Database } from "@coffer/server/database/Database"
import { Keyring } from "@coffer/server/keys/Keyring"
import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { Promotion } from "@coffer/server/secrets/services/Promotion"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { envPath, onDamagedDatabase, readBundle, writeBundle } from "../support/Services.js"
import { diff, read, refer, scene, withMoves, withReferences } from "./Scene.js"

const shared = { path: envPath("shared") }

/** Two environments whose references lead over each other, and `end`, to which all lead. */
const filled = Effect.gen(function* () {
  const { ada } = yield* scene
  const names = Array.from({ length: 30 }, (_, index) => `KEY_${index}`)
  const all = (text: (name: string) => string, prefix = "") =>
    Object.fromEntries(names.map((name) => [prefix + name, text(name)]))
  yield* writeBundle(ada, { set: { ...all((name) => `value of ${name}`), END: "end" } }, shared)
  yield* writeBundle(ada, { references: all((name) => `\${END} and \${${name}}`, "OF_") }, shared)
  yield* writeBundle(ada, { references: { ...all((name) => `\${shared:OF_${name}}`, "OF_"), END: "${shared:END}" } })
  return ada
})

/** The services with a database and a key that tell whether a value is decrypted while a snapshot is open. */
const watching = Effect.gen(function* () {
  const [database, keyring] = yield* Effect.all([Database, Keyring])
  const seen = { open: 0, snapshots: 0, inside: 0, outside: 0 }
  const snapshot: typeof database.snapshot = (effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        seen.open++
        seen.snapshots++
      }),
      () => database.snapshot(effect),
      () => Effect.sync(() => seen.open--)
    )
  const watched = Layer.merge(
    Layer.succeed(Database, { ...database, snapshot }),
    Layer.succeed(Keyring, {
      ...keyring,
      get kek() {
        seen[seen.open > 0 ? "inside" : "outside"]++
        return keyring.kek
      }
    })
  )
  const services = Layer.mergeAll(Secrets.Default, Bundles.Default, Promotion.Default)
  return { seen, services: Layer.provide(services, watched) }
})

describe("a read that resolves references", () => {
  it.effect("decrypts after its snapshot, for which other readers wait", () =>
    Effect.gen(function* () {
      const ada = yield* filled
      const { seen, services } = yield* watching
      const counted = <A, E, R>(call: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          Object.assign(seen, { snapshots: 0, inside: 0, outside: 0 })
          yield* Effect.provide(call, services)
          return { ...seen }
        })
      const calls = {
        diff: yield* counted(diff(ada, "prod", "shared", true)),
        bundle: yield* counted(readBundle(ada)),
        secret: yield* counted(read(ada, "OF_KEY_1"))
      }
      for (const [name, { inside, outside, snapshots }] of Object.entries(calls)) {
        assert.isAbove(snapshots, 0, name)
        assert.isAbove(outside, name === "secret" ? 3 : 60, name)
        assert.strictEqual(inside, 0, name)
      }
    }).pipe(withReferences)
  )

  it.effect("follows the texts, should the index of references lack some", () =>
    Effect.gen(function* () {
      const ada = yield* filled
      yield* refer(ada, "TOP", "${OF_KEY_1}")
      const all = Effect.all([
        diff(ada, "prod", "shared", true),
        Effect.map(readBundle(ada), ({ data, errors }) => ({ data, errors })),
        read(ada, "TOP"),
        read(ada, "OF_KEY_2", "shared")
      ])
      const before = yield* all
      assert.strictEqual(before[2], "end and value of KEY_1")
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM secret_references WHERE target_key = 'END' OR target_env = 'shared'`
      assert.deepStrictEqual(yield* all, before)
    }).pipe(withMoves, onDamagedDatabase())
  )
})
