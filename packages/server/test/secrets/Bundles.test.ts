import { Bundles } from "@coffer/server/secrets/services/Bundles"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import { inspect } from "node:util"
import { fiberSteps } from "../support/FiberSteps.js"
import {
  enter,
  entries,
  envPath,
  freshPlace,
  invariantsIn,
  onDatabase,
  organization,
  outcome,
  person,
  readBundle,
  readSecret,
  removeSecret,
  type Services,
  servicesIn,
  setSecret,
  writeBundle
} from "../support/Services.js"

interface Read {
  readonly data: ReadonlyArray<{ readonly key: string; readonly value: string }> | undefined
}

const plainly = ({ data }: Read) => data?.map(({ key, value }) => [key, value])

describe("a bundle", () => {
  it.effect("is every secret of the environment in byte order, with its revision", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      assert.deepStrictEqual(yield* Effect.map(readBundle(ada), ({ data, revision }) => ({ data, revision })), {
        data: [],
        revision: 0
      })
      for (const name of ["b", "B", "_", "a", "A.x", "A"]) yield* setSecret(ada, name, `value of ${name}`)
      yield* removeSecret(ada, "B")
      yield* setSecret(ada, "a", "new")
      yield* setSecret(ada, "C", "another environment's", { path: envPath("dev") })
      const bundle = yield* readBundle(ada)
      assert.strictEqual(bundle.revision, 8)
      assert.deepStrictEqual(
        bundle.data?.map(({ key, value, version }) => [key, value, version]),
        [
          ["A", "value of A", 1],
          ["A.x", "value of A.x", 1],
          ["_", "value of _", 1],
          ["a", "new", 2],
          ["b", "value of b", 1]
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("costs less than one step of the fiber for each secret", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const keys = Array.makeBy(100, (index) => `KEY_${index}`)
      yield* writeBundle(ada, { set: Object.fromEntries(keys.map((key) => [key, key])) })
      const read = (keys?: ReadonlyArray<string>) => fiberSteps(readBundle(ada, keys && { keys }))
      // The first read prepares statements.
      yield* read()
      assert.isBelow((yield* read()) - (yield* read(["KEY_1"])), 100)
    }).pipe(onDatabase())
  )

  it.effect("has the values and the revision of one moment, whatever is written meanwhile", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      // So many that they are not read in one turn of the event loop.
      const keys = Array.makeBy(250, (index) => `KEY_${index}`)
      const writeAll = (value: number) =>
        writeBundle(ada, { set: Object.fromEntries(keys.map((key) => [key, String(value).padEnd(2_000)])) })
      yield* writeAll(1)
      let writing = true
      const writer = yield* Effect.fork(
        Effect.ensuring(
          Effect.forEach(Array.range(2, 20), writeAll),
          Effect.sync(() => (writing = false))
        )
      )
      const seen = new Set<number>()
      for (let reads = 0; writing; reads++) {
        const { data = [], revision } = yield* readBundle(ada, reads % 2 === 0 ? {} : { keys })
        const value = String(revision).padEnd(2_000)
        assert.deepStrictEqual(
          new Set(data.map(({ value, version }) => `${version} ${value}`)),
          new Set([`${revision} ${value}`])
        )
        seen.add(revision ?? 0)
      }
      yield* writer
      assert.isAbove(seen.size, 2)
    }).pipe(onDatabase())
  )

  it.effect("is narrowed to the keys that are asked for, and names a missing one", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1", B: "2", C: "3" } })
      assert.deepStrictEqual(plainly(yield* readBundle(ada, { keys: ["C", "A", "C"] })), [
        ["A", "1"],
        ["C", "3"]
      ])
      const error = yield* Effect.flip(readBundle(ada, { keys: ["A", "ABSENT"] }))
      assert.deepStrictEqual([error._tag, error.message.includes("ABSENT")], ["NotFound", true])
    }).pipe(onDatabase())
  )

  it.effect("is recorded once, with keys and versions; not at all when the caller has it already", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1", B: "2" } })
      yield* setSecret(ada, "B", "3")
      const { etag } = yield* readBundle(ada)
      assert.isUndefined((yield* readBundle(ada, { ifNoneMatch: etag })).data)
      assert.isUndefined((yield* readBundle(ada, { ifNoneMatch: `"other", ${etag}` })).data)
      assert.isUndefined((yield* readBundle(ada, { ifNoneMatch: `W/${etag}` })).data)
      assert.isDefined((yield* readBundle(ada, { ifNoneMatch: '"other"', keys: ["A"] })).data)
      const reads = (yield* entries()).filter(({ action }) => action === "secret.read")
      assert.deepStrictEqual(
        reads.map(({ metadata, resource_type }) => ({ metadata, resource_type })),
        [
          {
            metadata: {
              project: "webshop",
              env: "prod",
              revision: 2,
              keys: [
                { key: "A", version: 1 },
                { key: "B", version: 2 }
              ]
            },
            resource_type: "env"
          },
          {
            metadata: { project: "webshop", env: "prod", revision: 2, keys: [{ key: "A", version: 1 }] },
            resource_type: "env"
          }
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("does not show its values when it is printed", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "hunter2")
      const place = yield* enter(ada, "secret.read")
      const read = yield* Effect.scoped((yield* Bundles).read(place))
      assert.notInclude(inspect(read, { depth: 9, showHidden: true }) + JSON.stringify(read), "hunter2")
    }).pipe(onDatabase())
  )
})

describe("an ETag", () => {
  it.effect("changes with every change, and stays while nothing changes", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const etag = Effect.map(readBundle(ada), (read) => read.etag)
      const seen = [yield* etag]
      const changes: ReadonlyArray<Effect.Effect<unknown, unknown, Services>> = [
        setSecret(ada, "A", "1"),
        setSecret(ada, "A", "1"),
        writeBundle(ada, { set: { B: "2" } }),
        removeSecret(ada, "A"),
        setSecret(ada, "A", "1"),
        writeBundle(ada, { delete: ["A", "B"] })
      ]
      for (const change of changes) {
        yield* change
        seen.push(yield* etag)
        assert.strictEqual(yield* etag, seen.at(-1))
      }
      assert.strictEqual(new Set(seen).size, seen.length)
      const idles: ReadonlyArray<Effect.Effect<unknown, unknown, Services>> = [
        readSecret(ada, "ABSENT"),
        setSecret(ada, "A", "x", { expected: 7 }),
        removeSecret(ada, "ABSENT"),
        writeBundle(ada, { set: { A: "x" }, dry_run: true }),
        writeBundle(ada, { delete: ["ABSENT"] }),
        writeBundle(ada, {}),
        setSecret(ada, "A", "x", { path: envPath("dev") })
      ]
      for (const idle of idles) {
        yield* Effect.exit(idle)
        assert.strictEqual(yield* etag, seen.at(-1))
      }
      assert.match(seen[0]!, /^"[A-Za-z0-9_-]{27}"$/)
      assert.notStrictEqual((yield* readBundle(ada, { path: envPath("staging") })).etag, seen[0])
    }).pipe(onDatabase())
  )

  it.scoped("does not outlive a restore: another epoch has other ETags for the same revision", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const etag = Effect.map(
        Effect.flatMap(person("ada@example.com"), (ada) => readBundle(ada)),
        (read) => read.etag
      )
      const before = yield* Effect.provide(Effect.zipRight(organization(), etag), servicesIn(place))
      assert.strictEqual(yield* Effect.provide(etag, servicesIn(place)), before, "a restart is none")
      const restored = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE instance SET epoch = '0123456789abcdef'`)
      yield* Effect.provide(restored, servicesIn(place))
      assert.notStrictEqual(yield* Effect.provide(etag, servicesIn(place)), before)
      yield* invariantsIn(place)
    })
  )
})

describe("a write of a bundle", () => {
  it.effect("creates, updates, deletes and leaves alone, in one revision, and says which", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { SAME: "s", CHANGED: "1", GONE: "g" } })
      const written = yield* writeBundle(ada, {
        set: { NEW: "", SAME: "s", CHANGED: "2" },
        delete: ["GONE", "ABSENT", "GONE"]
      })
      assert.deepStrictEqual(
        { revision: written.revision, data: written.data.map(({ change, key, version }) => [key, version, change]) },
        {
          revision: 2,
          data: [
            ["ABSENT", 0, "unchanged"],
            ["CHANGED", 2, "updated"],
            ["GONE", 1, "deleted"],
            ["NEW", 1, "created"],
            ["SAME", 1, "unchanged"]
          ]
        }
      )
      assert.deepStrictEqual(plainly(yield* readBundle(ada)), [
        ["CHANGED", "2"],
        ["NEW", ""],
        ["SAME", "s"]
      ])
      const audited = (yield* entries()).filter(({ action }) => /^secret\.(set|delete)$/.test(action)).slice(3)
      assert.deepStrictEqual(
        audited.map(({ action, metadata }) => [action, metadata]),
        [
          ["secret.set", { project: "webshop", env: "prod", key: "CHANGED", version: 2 }],
          ["secret.delete", { project: "webshop", env: "prod", key: "GONE", version: 1 }],
          ["secret.set", { project: "webshop", env: "prod", key: "NEW", version: 1 }]
        ],
        "one entry a changed key"
      )
    }).pipe(onDatabase())
  )

  it.effect("tells a value of the same length from the same value", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "12", B: "", C: "é" } })
      const { data } = yield* writeBundle(ada, { set: { A: "13", B: "", C: "é" } })
      assert.deepStrictEqual(
        data.map(({ change }) => change),
        ["updated", "unchanged", "unchanged"]
      )
    }).pipe(onDatabase())
  )

  it.effect("that changes nothing takes no revision and leaves no entry", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1" } })
      const before = (yield* entries()).length
      for (const request of [{}, { set: { A: "1" } }, { delete: ["B"] }, { set: {}, delete: [] }]) {
        assert.strictEqual((yield* writeBundle(ada, request)).revision, 1)
      }
      assert.strictEqual((yield* entries()).length, before)
    }).pipe(onDatabase())
  )

  it.effect("with dry_run says what it would do, and does nothing", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1", B: "2" } })
      const request = { set: { A: "new", C: "3" }, delete: ["B"] }
      const tried = yield* writeBundle(ada, { ...request, dry_run: true })
      assert.deepStrictEqual(plainly(yield* readBundle(ada)), [
        ["A", "1"],
        ["B", "2"]
      ])
      assert.strictEqual(tried.revision, 1)
      const done = yield* writeBundle(ada, request)
      assert.deepStrictEqual([done.revision, done.data], [2, tried.data])
    }).pipe(onDatabase())
  )

  it.effect("with an ETag is done only while the environment is as that ETag says", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const { etag } = yield* readBundle(ada)
      yield* writeBundle(ada, { set: { A: "1" } }, { ifMatch: etag })
      for (const request of [{ set: { A: "2" } }, { set: { A: "1" } }, { set: { A: "2" }, dry_run: true }]) {
        assert.strictEqual(yield* outcome(writeBundle(ada, request, { ifMatch: etag })), "Conflict")
      }
      const dev = yield* readBundle(ada, { path: envPath("dev") })
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { A: "2" } }, { ifMatch: dev.etag })), "Conflict")
      assert.strictEqual(yield* outcome(writeBundle(ada, { set: { A: "2" } }, { ifMatch: "*" })), "success")
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 2, value: "2" })
    }).pipe(onDatabase())
  )

  it.effect("with an ETag is won by one of many", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const { etag: ifMatch } = yield* readBundle(ada)
      const outcomes = yield* Effect.all(
        Array.makeBy(8, (writer) => outcome(writeBundle(ada, { set: { A: `${writer}` } }, { ifMatch }))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...outcomes].sort(), [...Array.replicate("Conflict", 7), "success"])
      assert.strictEqual((yield* readSecret(ada, "A")).value, String(outcomes.indexOf("success")))
    }).pipe(onDatabase())
  )

  it.effect("names a key both set and deleted, and takes at most 2,000 keys", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const error = yield* Effect.flip(writeBundle(ada, { set: { A: "hunter2", B: "" }, delete: ["B"] }))
      assert.deepStrictEqual([error._tag, error.message.startsWith("B:")], ["ValidationError", true])
      const many = Array.makeBy(2_001, (index) => `K${index}`)
      assert.strictEqual(yield* outcome(writeBundle(ada, { delete: many })), "ValidationError")
      const set = Object.fromEntries(many.slice(0, 1_001).map((name) => [name, ""]))
      assert.strictEqual(yield* outcome(writeBundle(ada, { set, delete: many.slice(1_001) })), "ValidationError")
      assert.strictEqual(yield* outcome(writeBundle(ada, { delete: many.slice(1) })), "success")
      assert.strictEqual((yield* readBundle(ada)).revision, 0)
    }).pipe(onDatabase())
  )

  it.effect("begins a key anew that was removed before, and may swap one key for another", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "1" } })
      yield* writeBundle(ada, { set: { A: "2" } })
      yield* writeBundle(ada, { delete: ["A"], set: { B: "2" } })
      const { data } = yield* writeBundle(ada, { set: { A: "3" }, delete: ["B"] })
      assert.deepStrictEqual(
        data.map(({ change, version }) => [change, version]),
        [
          ["created", 1],
          ["deleted", 1]
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("keeps a key named __proto__", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: JSON.parse('{"__proto__":"p","constructor":"c"}') as Record<string, string> })
      assert.deepStrictEqual(plainly(yield* readBundle(ada)), [
        ["__proto__", "p"],
        ["constructor", "c"]
      ])
      assert.deepStrictEqual(plainly(yield* readBundle(ada, { keys: ["__proto__"] })), [["__proto__", "p"]])
    }).pipe(onDatabase())
  )

  it.effect("replaces a value that does not open any more", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* writeBundle(ada, { set: { A: "same" } })
      const sql = yield* SqlClient.SqlClient
      const [kept] = yield* sql<{ ciphertext: Uint8Array }>`SELECT ciphertext FROM secret_versions`
      yield* sql`UPDATE secret_versions SET ciphertext = ${new Uint8Array(kept!.ciphertext.length)}`
      assert.strictEqual(yield* outcome(readBundle(ada)), "DecryptionFailed")
      const { data } = yield* writeBundle(ada, { set: { A: "same" } })
      assert.deepStrictEqual(
        data.map(({ change }) => change),
        ["updated"]
      )
      assert.deepStrictEqual(plainly(yield* readBundle(ada)), [["A", "same"]])
      yield* sql`UPDATE secret_versions SET ciphertext = ${kept!.ciphertext} WHERE version = 1`
    }).pipe(onDatabase())
  )
})
