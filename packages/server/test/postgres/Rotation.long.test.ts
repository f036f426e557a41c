import { opensDatabase, rotate } from "@coffer/server/operations/rotation/Rotation"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import { freshPath, masterKey, organization, person, readSecret, servicesIn, setSecret } from "../support/Services.js"

const newKey = "f0".repeat(32)

const filled = Effect.gen(function* () {
  const { name, url } = yield* freshDatabase()
  const path = yield* freshPath
  yield* Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", text)
  }).pipe(Effect.provide(servicesIn({ name, path })), Effect.scoped)
  return { name, path, url }
})

const rotated = (db: string, oldKey = masterKey) =>
  Effect.suspend(() => {
    const published: Array<string> = []
    return rotate({
      db,
      oldKey: Redacted.make(oldKey),
      newKey: Redacted.make(newKey),
      publish: (key) => Effect.sync(() => void published.push(Redacted.value(key))),
      progress: () => Effect.void
    }).pipe(Effect.map((result) => ({ ...result, published })))
  })

const keyInForce = (url: string) =>
  Effect.all([opensDatabase(url, Redacted.make(masterKey)), opensDatabase(url, Redacted.make(newKey))])

describe("a rotation of the master key on PostgreSQL", () => {
  it.live("by a role that owns no table says that the owner has to run VACUUM", () =>
    Effect.gen(function* () {
      const { name, url } = yield* filled
      yield* onServer(name, (client) =>
        client.query(
          `DROP ROLE IF EXISTS tenant; CREATE ROLE tenant LOGIN;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tenant`
        )
      )
      const { inGaps } = yield* rotated(url.replace("coffer@", "tenant@"))
      assert.match(inGaps ?? "", /let their owner run VACUUM secret_versions, wrapped_keys/)
      yield* onServer(name, (client) => client.query("DROP OWNED BY tenant; DROP ROLE tenant"))
    }).pipe(Effect.scoped)
  )

  it.live("puts every data key under the new key, and the values stay readable", () =>
    Effect.gen(function* () {
      const { name, path, url } = yield* filled
      const { inGaps, published, versions } = yield* rotated(url)
      assert.deepStrictEqual([versions, published, inGaps], [3, [newKey], null])
      assert.deepStrictEqual(yield* keyInForce(url), [false, true])
      const values = yield* Effect.gen(function* () {
        const ada = yield* person("ada@example.com")
        return yield* Effect.forEach([1, 2, 3], (version) => readSecret(ada, "A", { version }))
      }).pipe(Effect.provide(servicesIn({ name, path }, { SERVICE_MASTER_KEY: newKey })), Effect.scoped)
      assert.deepStrictEqual(
        values.map(({ value }) => value),
        ["one", "two", "three"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("refuses while a server runs, and with a wrong key", () =>
    Effect.gen(function* () {
      const { name, url } = yield* filled
      assert.match((yield* Effect.flip(rotated(url, "ab".repeat(32)))).message, /old master key does not open/)
      yield* onServer(name, (client) =>
        client.query(`
          INSERT INTO instances (id, host, pid, version, schema, started_at, seen_at)
          SELECT 'a', 'here', 1, '', 1, now, now FROM to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`)
      )
      assert.match((yield* Effect.flip(rotated(url))).message, /a server runs on the database .* \(process 1 on here\)/)
      yield* onServer(name, (client) => client.query("DELETE FROM instances"))
      assert.deepStrictEqual(yield* keyInForce(url), [true, false])
    }).pipe(Effect.scoped)
  )

  for (const [when, table] of [
    ["first", "wrapped_keys"],
    ["middle", "secret_versions"]
  ] as const) {
    it.live(`leaves all under the old key when its connection is lost at the ${when} step`, () =>
      Effect.gen(function* () {
        const { name, url } = yield* filled
        yield* onServer(name, (client) =>
          client.query(`
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';
            CREATE TRIGGER die AFTER UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION die()`)
        )
        assert.match((yield* Effect.flip(rotated(url))).message, /nothing was changed/)
        assert.deepStrictEqual(yield* keyInForce(url), [true, false])
        yield* onServer(name, (client) => client.query(`DROP TRIGGER die ON ${table}`))
        assert.strictEqual((yield* rotated(url)).versions, 3)
      }).pipe(Effect.scoped)
    )
  }
})
