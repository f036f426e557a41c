import { existsSync, readFileSync } from "node:fs"
import { Secrets } from "@coffer/server/secrets/services/Secrets"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, FastCheck, Redacted, TestClock } from "effect"
import { inspect } from "node:util"
import {
  DatabasePlace,
  DbPath,
  enter,
  entries,
  envPath,
  invariantsIn,
  isOnPostgres,
  key,
  listSecrets,
  newProject,
  onDatabase,
  organization,
  outcome,
  readSecret,
  removeSecret,
  setSecret,
  transaction,
  value,
  writeBundle
} from "../support/Services.js"
import { runs } from "../../../domain/test/support/Runs.js"

const totals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT name, revision, secret_count, value_bytes FROM environments ORDER BY id`
})

describe("a secret", () => {
  it.effect("is read as it was set, with its version, until it is set again", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const [index, text] of ["one", "two", "two", "three"].entries()) {
        const written = yield* setSecret(ada, "A", text)
        assert.strictEqual(written.version, index + 1, "the same value again is a new version too")
        assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: index + 1, value: text })
      }
    }).pipe(onDatabase())
  )

  it.effect("keeps every version as it was", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const texts = ["one", "", "three"]
      for (const text of texts) yield* setSecret(ada, "A", text)
      for (const [index, text] of texts.entries()) {
        const found = yield* readSecret(ada, "A", { version: index + 1 })
        assert.deepStrictEqual(found, { version: index + 1, value: text })
      }
      for (const version of [0, 4, 2_147_483_647]) {
        const error = yield* Effect.flip(readSecret(ada, "A", { version }))
        assert.strictEqual(error._tag, "NotFound")
        assert.include(error.message, `version ${version}`)
      }
    }).pipe(onDatabase())
  )

  it.effect("is dated by its first version and by its latest", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 31, 12))
      const ada = yield* organization()
      const first = yield* setSecret(ada, "A", "one")
      assert.deepStrictEqual(first, {
        key: key("A"),
        version: 1,
        created_at: "2026-01-31T12:00:00.000Z",
        updated_at: "2026-01-31T12:00:00.000Z"
      })
      yield* TestClock.adjust("1 hour")
      const second = yield* setSecret(ada, "A", "two")
      assert.deepStrictEqual(second, { ...first, version: 2, updated_at: "2026-01-31T13:00:00.000Z" })
      assert.deepStrictEqual(yield* listSecrets(ada), [{ key: key("A"), version: 2, updated_at: second.updated_at }])
    }).pipe(onDatabase())
  )

  for (const [what, text] of [
    ["the empty string", ""],
    ["a NUL byte", "a\0b"],
    ["64 KB", "x".repeat(65_536)],
    ["64 KB of four-byte characters", "🔑".repeat(16_384)],
    ["lines and quotes", "a\r\n\"b\"\n'c'\n"],
    ["what looks like SQL", "'); DROP TABLE secrets; --"],
    ["a byte order mark", "\uFEFFx"]
  ] as const) {
    it.effect(`holds ${what}`, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", text)
        assert.strictEqual((yield* readSecret(ada, "A")).value, text)
      }).pipe(onDatabase())
    )
  }

  it.effect("bears any key of the rule, __proto__ too, and capitals make another key", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const names = ["__proto__", "constructor", "a", "A", "a.b", "a-b", "_", "k".repeat(100)]
      for (const name of names) yield* setSecret(ada, name, `value of ${name}`)
      for (const name of names) assert.strictEqual((yield* readSecret(ada, name)).value, `value of ${name}`)
      assert.deepStrictEqual(
        (yield* listSecrets(ada)).map((secret): string => secret.key),
        [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        "in byte order"
      )
    }).pipe(onDatabase())
  )

  it.effect("begins anew at version 1 when it is set after a removal", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "one")
      yield* setSecret(ada, "A", "two")
      yield* removeSecret(ada, "A")
      assert.strictEqual((yield* Effect.flip(readSecret(ada, "A")))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(readSecret(ada, "A", { version: 1 })))._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(removeSecret(ada, "A")))._tag, "NotFound")
      assert.deepStrictEqual(yield* listSecrets(ada), [])

      assert.strictEqual((yield* setSecret(ada, "A", "new")).version, 1)
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 1, value: "new" })
      assert.strictEqual((yield* Effect.flip(readSecret(ada, "A", { version: 2 })))._tag, "NotFound")
      const sql = yield* SqlClient.SqlClient
      const rows =
        yield* sql`SELECT version, removed_at IS NULL AS live, removed_revision FROM secrets ORDER BY version DESC`
      assert.deepStrictEqual(rows, [
        { version: 2, live: 0, removed_revision: 3 },
        { version: 1, live: 1, removed_revision: null }
      ])
    }).pipe(onDatabase())
  )

  it.effect("of one environment is nobody's business in another", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "api")
      yield* setSecret(ada, "A", "webshop prod")
      yield* setSecret(ada, "A", "webshop dev", { path: envPath("dev") })
      for (const path of [envPath("staging"), envPath("prod", "api")]) {
        assert.strictEqual(yield* outcome(readSecret(ada, "A", { path })), "NotFound")
        assert.deepStrictEqual(yield* listSecrets(ada, path), [])
      }
      yield* removeSecret(ada, "A", { path: envPath("dev") })
      assert.strictEqual((yield* readSecret(ada, "A")).value, "webshop prod")
    }).pipe(onDatabase())
  )

  it.effect("is not shown when what the service answers is printed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const written = yield* setSecret(ada, "A", "hunter2")
      const place = yield* enter(ada, "secret.read")
      const read = yield* (yield* Secrets).read(place, key("A"))
      assert.strictEqual(Redacted.value(read.value), "hunter2")
      for (const answer of [written, read, place, yield* listSecrets(ada)]) {
        assert.notInclude(inspect(answer, { depth: 9, showHidden: true }), "hunter2")
      }
    }).pipe(onDatabase())
  )

  it.effect.prop(
    "has the versions and the value that a plain map would have, whatever is done to it",
    [
      FastCheck.array(
        FastCheck.record({
          name: FastCheck.constantFrom("A", "B", "C"),
          text: FastCheck.option(FastCheck.string({ unit: "grapheme", maxLength: 20 }), { freq: 3 }),
          expected: FastCheck.option(FastCheck.nat({ max: 3 }), { freq: 2 })
        }),
        { minLength: 10, maxLength: 25 }
      )
    ],
    ([steps]) =>
      Effect.gen(function* () {
        const ada = yield* organization()
        const model = new Map<string, Array<string>>()
        for (const { expected, name, text } of steps) {
          const versions = model.get(name) ?? []
          const options = expected === null ? {} : { expected }
          const isExpected = expected === null || expected === versions.length
          if (text === null) {
            const wanted = versions.length === 0 ? "NotFound" : isExpected ? "success" : "Conflict"
            assert.strictEqual(yield* outcome(removeSecret(ada, name, options)), wanted)
            if (wanted === "success") model.delete(name)
          } else {
            assert.strictEqual(yield* outcome(setSecret(ada, name, text, options)), isExpected ? "success" : "Conflict")
            if (isExpected) model.set(name, [...versions, text])
          }
        }
        for (const name of ["A", "B", "C"]) {
          const versions = model.get(name) ?? []
          assert.strictEqual(yield* outcome(readSecret(ada, name)), versions.length === 0 ? "NotFound" : "success")
          for (const [index, text] of versions.entries()) {
            assert.strictEqual((yield* readSecret(ada, name, { version: index + 1 })).value, text)
          }
        }
        const bytes = [...model.values()].reduce((sum, versions) => sum + Buffer.byteLength(versions.at(-1)!), 0)
        const prod = (yield* totals).find(({ name }) => name === "prod")
        assert.deepInclude(prod, { secret_count: model.size, value_bytes: bytes })
      }).pipe(onDatabase()),
    { fastCheck: { numRuns: runs(15) } }
  )
})

describe("an expected version", () => {
  it.effect("lets a write through if it is the current version, and not otherwise", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      assert.strictEqual(yield* outcome(setSecret(ada, "A", "x", { expected: 1 })), "Conflict")
      assert.strictEqual((yield* setSecret(ada, "A", "one", { expected: 0 })).version, 1)
      assert.strictEqual((yield* setSecret(ada, "A", "two", { expected: 1 })).version, 2)
      const before = yield* totals
      for (const expected of [0, 1, 3, 2_147_483_647]) {
        const error = yield* Effect.flip(setSecret(ada, "A", "hunter2", { expected }))
        assert.strictEqual(error._tag, "Conflict")
        assert.notInclude(error.message, "hunter2")
        assert.strictEqual(yield* outcome(removeSecret(ada, "A", { expected })), "Conflict")
      }
      assert.deepStrictEqual(yield* totals, before, "not even the revision has moved")
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 2, value: "two" })
      yield* removeSecret(ada, "A", { expected: 2 })
      assert.strictEqual((yield* setSecret(ada, "A", "new", { expected: 0 })).version, 1)
    }).pipe(onDatabase())
  )

  it.effect("lets one of many writers win", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const expected of [0, 1, 2]) {
        const outcomes = yield* Effect.all(
          Array.makeBy(10, (writer) => outcome(setSecret(ada, "A", `writer ${writer}`, { expected }))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("Conflict", 9), "success"])
        const winner = outcomes.indexOf("success")
        assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: expected + 1, value: `writer ${winner}` })
      }
    }).pipe(onDatabase())
  )
})

describe("writers at the same time", () => {
  it.effect("of one key get the versions 1 to 20, each its own", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const written = yield* Effect.all(
        Array.makeBy(20, (writer) =>
          Effect.map(setSecret(ada, "A", `writer ${writer}`), ({ version }) => ({ version, writer }))
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        written.map(({ version }) => version).sort((a, b) => a - b),
        Array.range(1, 20)
      )
      for (const { version, writer } of written) {
        assert.strictEqual((yield* readSecret(ada, "A", { version })).value, `writer ${writer}`)
      }
    }).pipe(onDatabase())
  )

  it.effect("and readers never see a half of a change", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "1")
      const writing = Effect.forEach(Array.range(2, 30), (version) => setSecret(ada, "A", String(version)))
      const reading = Effect.forEach(Array.range(1, 60), () =>
        Effect.gen(function* () {
          yield* Effect.yieldNow()
          const found = yield* readSecret(ada, "A")
          assert.strictEqual(found.value, String(found.version))
        })
      )
      yield* Effect.all([writing, reading, reading], { concurrency: "unbounded" })
      assert.strictEqual((yield* readSecret(ada, "A")).version, 30)
    }).pipe(onDatabase())
  )

  it.effect("of many keys, with removals among them, leave sums that are right", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* Effect.all(
        Array.makeBy(60, (step) =>
          step % 3 === 2
            ? Effect.asVoid(outcome(removeSecret(ada, `K${step % 5}`)))
            : Effect.asVoid(setSecret(ada, `K${step % 5}`, "x".repeat(step)))
        ),
        { concurrency: "unbounded" }
      )
    }).pipe(onDatabase())
  )
})

describe("the limits of an environment", () => {
  it.effect("are 2,000 secrets: one more is refused and changes nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const all = Object.fromEntries(Array.makeBy(2_000, (index) => [`K${index}`, ""]))
      yield* writeBundle(ada, { set: all })
      const before = { totals: yield* totals, entries: (yield* entries()).length }

      const error = yield* Effect.flip(setSecret(ada, "ONE_MORE", "hunter2"))
      assert.strictEqual(error._tag, "LimitExceeded")
      assert.include(error.message, "2000 secrets")
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { ONE_MORE: "" } })), "LimitExceeded")
      assert.strictEqual(
        yield* outcome(writeBundle(ada, { set: { ONE_MORE: "", TWO_MORE: "" }, delete: ["K0"] })),
        "LimitExceeded"
      )
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { ONE_MORE: "" }, dry_run: true })), "LimitExceeded")
      assert.deepStrictEqual({ totals: yield* totals, entries: (yield* entries()).length }, before)
      assert.strictEqual(yield* outcome(readSecret(ada, "ONE_MORE")), "NotFound")

      yield* setSecret(ada, "K1", "a full environment still takes new versions")
      yield* writeBundle(ada, { set: { ONE_MORE: "in the place of another" }, delete: ["K0"] })
      yield* removeSecret(ada, "K1")
      yield* setSecret(ada, "K1", "and removed ones do not count")
      yield* setSecret(ada, "OTHER", "nor those of other environments", { path: envPath("dev") })
    }).pipe(onDatabase())
  )

  it.effect("are 8 MiB of values: one byte more is refused and changes nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const full = Object.fromEntries(Array.makeBy(128, (index) => [`K${index}`, "x".repeat(65_536)]))
      yield* writeBundle(ada, { set: full })
      const before = yield* totals
      assert.deepInclude(
        before.find(({ name }) => name === "prod"),
        { value_bytes: 8 * 1024 * 1024 }
      )

      yield* setSecret(ada, "EMPTY", "")
      const error = yield* Effect.flip(setSecret(ada, "ONE_MORE", "x"))
      assert.strictEqual(error._tag, "LimitExceeded")
      assert.include(error.message, "8 MiB")
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { EMPTY: "x" } })), "LimitExceeded")
      assert.strictEqual(yield* outcome(readSecret(ada, "ONE_MORE")), "NotFound")

      yield* setSecret(ada, "K0", "y".repeat(65_535))
      assert.strictEqual(yield* outcome(setSecret(ada, "ONE_MORE", "é")), "LimitExceeded", "bytes, not characters")
      yield* setSecret(ada, "ONE_MORE", "x")
      yield* setSecret(ada, "K1", "y".repeat(65_536))
    }).pipe(onDatabase())
  )
})

describe("what is stored", () => {
  it.effect.skipIf(isOnPostgres())("holds no value in clear, in any of the database's files", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      const canary = (name: string) => `canary-${name}-${"0123456789".repeat(3)}`
      yield* setSecret(ada, "SET_SECRET", canary("set"))
      yield* setSecret(ada, "SET_SECRET", canary("again"))
      yield* writeBundle(ada, { set: { BUNDLED: canary("bundled") } })
      yield* setSecret(ada, "REMOVED", canary("removed"))
      yield* removeSecret(ada, "REMOVED")
      yield* outcome(setSecret(ada, "SET_SECRET", canary("refused"), { expected: 9 }))
      yield* readSecret(ada, "SET_SECRET")
      yield* entries()
      const files = ["", "-wal", "-shm", ".lock"].map((suffix) => path + suffix).filter((file) => existsSync(file))
      assert.include(files, `${path}-wal`)
      const bytes = Buffer.concat(files.map((file) => readFileSync(file)))
      assert.isTrue(bytes.includes("SET_SECRET"), "the search finds what is there")
      for (const form of ["utf8", "base64", "hex", "utf16le"] as const) {
        const text =
          form === "utf8" || form === "utf16le" ? Buffer.from("canary-", form) : Buffer.from("canary-").toString(form)
        assert.isFalse(bytes.includes(text), form)
      }
    }).pipe(onDatabase())
  )

  it.effect("is whole while the server runs, too", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      for (const text of ["one", "two"]) {
        yield* setSecret(ada, "A", text)
        yield* invariantsIn(yield* DatabasePlace)
      }
      yield* removeSecret(ada, "A")
      yield* invariantsIn(yield* DatabasePlace)
    }).pipe(onDatabase())
  )

  it.effect("is another ciphertext each time, for the same value too", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* Effect.repeatN(setSecret(ada, "A", "the same"), 9)
      yield* Effect.repeatN(setSecret(ada, "B", "the same"), 9)
      const sql = yield* SqlClient.SqlClient
      for (const column of ["ciphertext", "wrapped_key"]) {
        const rows = yield* sql`SELECT count(DISTINCT ${sql(column)}) AS distinct_values FROM secret_versions`
        assert.deepStrictEqual(rows, [{ distinct_values: 20 }], column)
      }
    }).pipe(onDatabase())
  )
})

describe("an environment removed while somebody writes", () => {
  it.effect("takes nothing more", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const sql = yield* SqlClient.SqlClient
      const place = yield* enter(ada, "secret.write")
      yield* sql`UPDATE environments SET removed_at = 'now' WHERE id = ${place.env.id}`
      const secrets = yield* Secrets
      assert.strictEqual(
        yield* outcome(transaction(secrets.set(place, key("A"), { kind: "text", value: value("x") }))),
        "NotFound"
      )
      assert.strictEqual(yield* outcome(transaction(secrets.remove(place, key("A")))), "NotFound")
    }).pipe(onDatabase())
  )
})
