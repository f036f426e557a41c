import { chmodSync, chownSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseLive, pragmas } from "@coffer/server/database/sqlite/SqliteDatabase"
import { migrations } from "@coffer/server/database/sqlite/Migrations"
import { Database } from "@coffer/server/database/Database"
import { query } from "@coffer/server/database/Query"
import { Instance } from "@coffer/server/keys/Instance"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { RawStatements } from "../support/RawStatements.js"
import {
  configAt,
  freshPath,
  invariants,
  onDatabase,
  organization,
  person,
  rawAt,
  readSecret,
  servicesAt,
  setSecret,
  transaction
} from "../support/Services.js"

const databaseAt = (path: string) => RawStatements.pipe(Layer.provideMerge(DatabaseLive), Layer.provide(configAt(path)))

const settings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found: Array<readonly [string, unknown]> = []
  for (const name of Object.keys(pragmas)) {
    const [row] = yield* sql.unsafe<Record<string, unknown>>(`PRAGMA ${name}`)
    found.push([name, row === undefined ? undefined : Object.values(row)[0]])
  }
  return Object.fromEntries(found)
})

/** The sentence with which the services refuse to start. */
const refusal = (path: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.map(Effect.flip(Effect.provide(Effect.void, servicesAt(path, environment))), (error) => {
    assert.strictEqual(error._tag, "StartupError")
    return error.message
  })

const wanted = {
  journal_mode: "wal",
  synchronous: 2,
  foreign_keys: 1,
  secure_delete: 1,
  busy_timeout: 0,
  trusted_schema: 0,
  cell_size_check: 1,
  temp_store: 2
}

describe("the database", () => {
  it.scoped("is opened with every setting that keeps data whole and private, each time anew", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      for (const opening of ["first", "second", "third"]) {
        const { mmap_size, ...found } = yield* Effect.provide(settings, databaseAt(path))
        assert.deepStrictEqual(found, wanted, `${opening} opening`)
        assert.oneOf(mmap_size, [0, undefined])
      }
    })
  )

  it.scoped("would not keep these settings by itself: synchronous is NORMAL again for whoever opens it plainly", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, databaseAt(path))
      const plain = yield* rawAt(path)
      assert.strictEqual(plain.pragma("synchronous", { simple: true }), 1)
      assert.strictEqual(plain.pragma("secure_delete", { simple: true }), 0)
    })
  )

  it.scoped("consists of files that nobody else can read", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* organization()
          const files = readdirSync(dirname(path))
          assert.includeMembers(files, ["service.db", "service.db-wal", "service.db-shm", "service.db.lock"])
          for (const file of files) assert.strictEqual(statSync(join(dirname(path), file)).mode & 0o777, 0o600, file)
        }),
        servicesAt(path)
      )
      yield* invariants(path)
    })
  )

  it.scoped("belongs to one server: a second one is refused until the first has ended", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(databaseAt(path), scope)
      assert.match(yield* refusal(path), /is in use by another coffer-server/)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.provide(Effect.void, servicesAt(path))
    })
  )

  it.scoped("does not start over a link, a folder, or what is no database", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      const folder = dirname(path)

      symlinkSync(path, join(folder, "link.db"))
      assert.match(yield* refusal(join(folder, "link.db")), /not a regular file/)
      assert.match(yield* refusal(folder), /not a regular file/)
      assert.match(yield* refusal(join(folder, "nowhere", "service.db")), /nowhere of the database does not exist/)

      writeFileSync(join(folder, "text.db"), "this is text and no database\n".repeat(200), { mode: 0o600 })
      assert.match(yield* refusal(join(folder, "text.db")), /not a usable database|cannot be opened|not a database/)
      assert.include(readFileSync(join(folder, "text.db"), "utf8"), "this is text")

      yield* Effect.provide(Effect.void, servicesAt(path))
    })
  )

  it.scoped("takes the rights of others from its own files, which a volume with fsGroup gives at each start", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      writeFileSync(`${path}.before-0002`, "")
      for (const file of [path, `${path}.lock`, `${path}.before-0002`]) {
        for (const mode of [0o640, 0o604, 0o660]) {
          chmodSync(file, mode)
          yield* Effect.provide(Effect.void, servicesAt(path))
          assert.strictEqual(statSync(file).mode & 0o777, 0o600, file)
        }
      }
    })
  )

  // Only root can give a file to somebody else.
  it.scoped.runIf(process.getuid?.() === 0)("does not start over a file of another user that others can read", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      for (const file of [path, `${path}.lock`]) {
        chmodSync(file, 0o660)
        chownSync(file, 54_321, 54_321)
        assert.match(
          yield* refusal(path),
          /\(mode 660\), and belongs to user 54321: make the server's user its owner, and run chmod 600/
        )
        chownSync(file, 0, 0)
      }
    })
  )

  it.scoped("keeps its identity and its secrets when it is opened again", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const first = yield* Effect.provide(
        Effect.gen(function* () {
          yield* setSecret(yield* organization(), "A", "kept")
          return yield* Instance
        }),
        servicesAt(path)
      )
      const second = yield* Effect.provide(
        Effect.gen(function* () {
          const found = yield* readSecret(yield* person("ada@example.com"), "A")
          assert.deepStrictEqual(found, { version: 1, value: "kept" })
          return yield* Instance
        }),
        servicesAt(path)
      )
      assert.deepStrictEqual([second.id, second.epoch], [first.id, first.epoch])
      assert.isTrue(second.auditKey.equals(first.auditKey))
      assert.match(first.epoch, /^[0-9a-f]{16}$/)
      yield* invariants(path)
    })
  )
})

describe("the migrations", () => {
  const folders = ["sqlite/migrations", "migrations"].map((name) =>
    join(import.meta.dirname, "../../src/database", name)
  )

  it("are the files of both folders, all of them, numbered from 1 without gaps", () => {
    const files = folders
      .flatMap((folder) => readdirSync(folder))
      .map((file) => file.replace(/\.ts$/, ""))
      .sort()
    assert.deepStrictEqual(Object.keys(migrations), files)
    assert.deepStrictEqual(
      files.map((file) => Number(file.slice(0, 4))),
      files.map((_, index) => index + 1)
    )
  })

  it.effect("are all noted in a new database", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT migration_id, name FROM effect_sql_migrations ORDER BY migration_id`
      assert.deepStrictEqual(
        rows.map(({ migration_id, name }) => `${String(migration_id).padStart(4, "0")}_${String(name)}`),
        Object.keys(migrations)
      )
    }).pipe(onDatabase())
  )

  it.scoped("of a newer program are refused, and nothing is changed", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(organization(), servicesAt(path))
      yield* Effect.scoped(
        Effect.map(rawAt(path), (db) =>
          db.exec("INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'later')")
        )
      )
      const before = readFileSync(path)
      assert.match(yield* refusal(path), /schema 9999, which is newer/)
      assert.isTrue(before.equals(readFileSync(path)))
    })
  )
})

describe("the master key", () => {
  it.scoped("is refused in a sentence when it is not the database's, and nothing is written", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(
        Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "kept")),
        servicesAt(path)
      )
      const before = readFileSync(path)
      const message = yield* refusal(path, { SERVICE_MASTER_KEY: "f".repeat(64) })
      assert.match(message, /SERVICE_MASTER_KEY does not open this database/)
      assert.notInclude(message, "ffff")
      assert.isTrue(before.equals(readFileSync(path)))
      yield* invariants(path)
    })
  )

  it.scoped("does not open a database whose check or audit key was edited or lost", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      const db = yield* rawAt(path)
      const swapped = [
        "UPDATE wrapped_keys SET name = 'other' WHERE name = 'audit'",
        "UPDATE wrapped_keys SET name = 'audit' WHERE name = 'check'",
        "UPDATE wrapped_keys SET name = 'check' WHERE name = 'other'"
      ].join(";")
      for (const [damage, repair, sentence] of [
        ["UPDATE wrapped_keys SET format = 2", "UPDATE wrapped_keys SET format = 1", /does not open/],
        [
          "UPDATE wrapped_keys SET name = 'gone' WHERE name = 'audit'",
          "UPDATE wrapped_keys SET name = 'audit' WHERE name = 'gone'",
          /lost its wrapped key "audit"/
        ],
        [swapped, swapped, /does not open/]
      ] as const) {
        db.exec(damage)
        assert.match(yield* refusal(path), sentence)
        db.exec(repair)
      }
      db.exec("UPDATE wrapped_keys SET ciphertext = zeroblob(48) WHERE name = 'audit'")
      assert.match(yield* refusal(path), /audit key is damaged/)
    })
  )
})

describe("what reads outside of a transaction", () => {
  const Names = Schema.Struct({ email: Schema.String })
  const users = Effect.flatMap(query, ({ all }) => all(Names)`SELECT email FROM users`({}))
  const seen = Effect.map(users, (found) => found.length)

  it.effect("cannot write", () =>
    Effect.gen(function* () {
      const { all } = yield* query
      for (const statement of [
        "INSERT INTO users (id, email, name, created_at, updated_at) VALUES ('a', 'b', 'c', 'd', 'e')",
        "DELETE FROM users",
        "UPDATE instance SET epoch = ''",
        "CREATE TABLE more (a TEXT)",
        "DROP TABLE audit_entries",
        "VACUUM"
      ]) {
        const exit = yield* Effect.exit(all(Names)([statement])({}))
        assert.isTrue(Exit.isFailure(exit), statement)
        if (!Exit.isFailure(exit)) continue
        assert.match(Cause.pretty(exit.cause, { renderErrorCause: true }), /readonly/)
      }
    }).pipe(onDatabase())
  )

  it.effect("sees a write once it is committed, and never before", () =>
    Effect.gen(function* () {
      const [written, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const writer = yield* transaction(
        person("ada@example.com").pipe(
          Effect.zipRight(Deferred.succeed(written, undefined)),
          Effect.zipRight(Deferred.await(go)),
          Effect.zipRight(Effect.flatMap(seen, (found) => Effect.sync(() => assert.strictEqual(found, 1, "its own"))))
        )
      ).pipe(Effect.fork)
      yield* Deferred.await(written)
      assert.deepStrictEqual(yield* users, [], "while the transaction is open")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(writer)
      assert.deepStrictEqual(yield* users, [{ email: "ada@example.com" }])
    }).pipe(onDatabase())
  )

  it.effect("never sees what was rolled back", () =>
    Effect.gen(function* () {
      const exit = yield* transaction(Effect.zipRight(person("ada@example.com"), Effect.fail("rolled back"))).pipe(
        Effect.exit
      )
      assert.deepStrictEqual(exit, Exit.fail("rolled back"))
      assert.deepStrictEqual(yield* users, [])
    }).pipe(onDatabase())
  )

  it.effect("sees in a snapshot what was there when that began, and holds no writer up", () =>
    Effect.gen(function* () {
      const { snapshot } = yield* Database
      yield* person("ada@example.com")
      const counts = yield* snapshot(
        Effect.gen(function* () {
          const before = yield* seen
          const writer = yield* Effect.fork(person("bob@example.com"))
          yield* Fiber.join(writer)
          return [before, yield* seen]
        })
      )
      assert.deepStrictEqual([...counts, yield* seen], [1, 1, 2])
    }).pipe(onDatabase())
  )

  it.effect("takes a row that does not fit for a defect", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit((yield* query).all(Names)`SELECT 1 AS email`({}))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
    }).pipe(onDatabase())
  )
})

describe("a full disk", () => {
  it.effect("loses nothing that was acknowledged, fails what does not fit as a whole, and is got over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ada = yield* organization()
      yield* setSecret(ada, "KEPT", "kept")
      const [{ page_count }] = (yield* sql.unsafe<{ page_count: number }>("PRAGMA page_count")) as [
        { page_count: number }
      ]
      let written = 0
      for (let spare = 0; spare < 14; spare += 2) {
        yield* sql.unsafe(`PRAGMA max_page_count = ${page_count + spare}`)
        const exit = yield* Effect.exit(setSecret(ada, `BIG_${spare}`, "x".repeat(12_000)))
        if (Exit.isSuccess(exit)) written++
        else assert.isTrue(Cause.isDie(exit.cause))
      }
      assert.isBelow(written, 7, "some did not fit")
      yield* sql.unsafe("PRAGMA max_page_count = 1073741823")
      assert.deepStrictEqual(yield* readSecret(ada, "KEPT"), { version: 1, value: "kept" })
      assert.strictEqual((yield* setSecret(ada, "KEPT", "again")).version, 2)
    }).pipe(onDatabase())
  )
})
