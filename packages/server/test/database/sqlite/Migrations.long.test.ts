import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { statSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import type { PageRequest } from "@coffer/server/edges/trail/Trail"
import { migrations } from "@coffer/server/database/sqlite/Migrations"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Effect } from "effect"
import { everythingAt } from "../../model/Support.js"
import { destroy, historyAt, listRevisions, revert, undelete } from "../../history/Support.js"
import {
  envPath,
  freshPath,
  invariants,
  member,
  newProject,
  organization,
  outcome,
  rawAt,
  readBundle,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../../support/Services.js"
import { databaseOfSchema } from "../../support/EarlierSchema.js"
import { list, listAll, type Log, newOrganization, root, verify, verifyAll, write } from "../../trail/Support.js"

/** Enough that the migration takes several steps. */
const names = Array.makeBy(1_999, (index) => `K${index}`)

const lastWithoutAcceptances = 48

const schemaOf = (path: string) =>
  Effect.scoped(
    Effect.map(rawAt(path), (db) => db.prepare("SELECT max(migration_id) FROM effect_sql_migrations").pluck().get())
  )

const requests: ReadonlyArray<PageRequest> = [
  {},
  { limit: 3 },
  { action: "secret.set" },
  { resource_type: "secret" },
  { actor_id: "bob" },
  { actor_id: "ada", action: "secret.set" },
  { action: "secret.delete", resource_type: "secret" },
  { actor_id: "bob", action: "acl.grant", resource_type: "acl_rule" },
  { actor_id: "nobody", action: "secret.set" },
  { key: SecretKey.make("A") },
  { key: SecretKey.make("A"), action: "secret.set", actor: "ada@example.com" },
  { project: ProjectName.make("webshop") },
  { env: EnvName.make("prod"), since: "1970-01-01" },
  { since: "1970-01-01", until: "2999-01-01T00:00Z" }
]

const everyPage = (log: Log) =>
  Effect.forEach(requests, (request) =>
    Effect.all([list(log, request), listAll(request), listAll({ ...request, limit: 2 }, log.id)])
  )

describe("a database of the first schema", () => {
  it.scoped("has the history of its environments as far as it is known", () =>
    Effect.gen(function* () {
      const content = yield* freshPath
      const ada = yield* Effect.gen(function* () {
        const ada = yield* organization()
        // Revisions 2 and 3 leave no trace in the first schema.
        yield* setSecret(ada, "A", "one")
        yield* removeSecret(ada, "A")
        yield* undelete(ada, "A")
        yield* writeBundle(ada, { set: { A: "two", B: "b" } })
        yield* removeSecret(ada, "B")
        yield* setSecret(ada, "B", "anew", { path: envPath("dev") })
        yield* removeSecret(ada, "B", { path: envPath("dev") })
        // An append of the old schema had its index.
        yield* (yield* AuditIndex).catchUpAll
        return ada
      }).pipe(Effect.provide(historyAt(content)))

      const path = yield* databaseOfSchema(1, content)
      yield* Effect.gen(function* () {
        const history = (env: string) =>
          Effect.map(listRevisions(ada, { path: envPath(env) }), (revisions) =>
            revisions.map(({ created_by, keys, revision }) => [
              revision,
              created_by,
              ...keys.map(({ change, key, version }) => `${key} ${version} ${change}`)
            ])
          )
        assert.deepStrictEqual<unknown>(yield* history("prod"), [
          [5, null, "B 1 deleted"],
          [4, "ada@example.com", "A 2 updated", "B 1 created"],
          [1, "ada@example.com", "A 1 created"]
        ])
        assert.deepStrictEqual<unknown>(yield* history("dev"), [
          [2, null, "B 1 deleted"],
          [1, "ada@example.com", "B 1 created"]
        ])
        assert.strictEqual(yield* outcome(revert(ada, 2)), "Conflict")
        yield* revert(ada, 3)
        assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 3, value: "one" })
        yield* revert(ada, 4)
        assert.strictEqual((yield* readSecret(ada, "B")).value, "b")
        yield* revert(ada, 1, { path: envPath("dev") })
        assert.strictEqual((yield* readSecret(ada, "B", { path: envPath("dev") })).value, "anew")
      }).pipe(Effect.provide(historyAt(path)))
      yield* invariants(path)
    })
  )

  it.scoped("is migrated with all that it holds, after a copy of it was kept", () =>
    Effect.gen(function* () {
      const content = yield* freshPath
      const { log, pages } = yield* Effect.gen(function* () {
        const log = yield* newOrganization("acme")
        const other = yield* newOrganization("other", "bob@example.com")
        yield* newProject(log.actor, "webshop")
        yield* setSecret(log.actor, "A", "one")
        for (const [n, actor] of ["ada", "bob", "ada", "eve"].entries()) {
          yield* write(log.id, { actor, n })
          yield* write(other.id, { actor, n, action: "acl.grant", resource_type: "acl_rule" })
          yield* write(null, { actor, n, action: "secret.delete" })
        }
        yield* root
        return { log, pages: yield* everyPage(log) }
      }).pipe(Effect.provide(everythingAt(content)))

      const path = yield* databaseOfSchema(1, content)
      assert.strictEqual(yield* schemaOf(path), 1)
      const check = Effect.gen(function* () {
        assert.deepStrictEqual(yield* everyPage(log), pages)
        const checks = [yield* verify(log), yield* verifyAll()]
        assert.deepStrictEqual(
          checks.map(({ valid, entries }) => ({ valid, whole: entries > 3 })),
          checks.map(() => ({ valid: true, whole: true }))
        )
        assert.deepStrictEqual(yield* readSecret(log.actor, "A"), { version: 1, value: "one" })
        yield* setSecret(log.actor, "A", "two")
      })
      yield* Effect.provide(check, everythingAt(path))
      assert.strictEqual(yield* schemaOf(path), Object.keys(migrations).length)
      yield* invariants(path)

      const copy = `${path}.before-0002`
      assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
      assert.strictEqual(yield* schemaOf(copy), 1)
      // It is whole: it can take the database's place.
      yield* Effect.provide(check, everythingAt(copy))
      yield* invariants(copy)
    })
  )
})

describe("a database that does not say who accepted a membership", () => {
  it.scoped("has accepted it of everybody who acted in the organization since, and of nobody else", () =>
    Effect.gen(function* () {
      const content = yield* freshPath
      yield* Effect.gen(function* () {
        const { actor: ada } = yield* newOrganization("acme")
        yield* newProject(ada, "webshop")
        const acts = yield* member("acts@example.com", "admin")
        yield* setSecret(acts, "A", "one")
        const refused = yield* member("refused@example.com", "member")
        assert.strictEqual(yield* outcome(setSecret(refused, "A", "two")), "Forbidden")
        yield* member("quiet@example.com", "owner")
        // A member that acted before a removal, and was invited again.
        const again = yield* member("again@example.com", "admin")
        yield* setSecret(again, "B", "one")
        yield* (yield* SqlClient.SqlClient)`
          UPDATE members SET created_at = '2999-01-01T00:00:00.000Z' WHERE user_id = ${again.id}`
      }).pipe(Effect.provide(everythingAt(content)))

      const path = yield* databaseOfSchema(lastWithoutAcceptances, content)
      yield* Effect.provide(Effect.void, everythingAt(path))
      const db = yield* rawAt(path)
      const rows = db
        .prepare("SELECT u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.accepted_at = m.created_at")
        .pluck()
        .all()
      assert.sameMembers(rows, ["acts@example.com", "ada@example.com"])
      const all = db.prepare("SELECT count(*) FROM members WHERE accepted_at IS NULL").pluck().get()
      assert.strictEqual(all, 3)
    })
  )
})

const versionRows = (path: string) =>
  Effect.scoped(
    Effect.map(rawAt(path), (db) => db.prepare("SELECT * FROM secret_versions ORDER BY secret_id, version").all())
  )

describe("a database whose versions have their nonces in columns of their own", () => {
  it.scoped("stores them as one blob each, reads every value, and keeps a copy of before", () =>
    Effect.gen(function* () {
      const content = yield* freshPath
      const ada = yield* Effect.gen(function* () {
        const ada = yield* organization()
        yield* writeBundle(ada, { set: Object.fromEntries(names.map((name) => [name, name.repeat(40)])) })
        for (const text of ["", "x", "y".repeat(65_536), "last"]) yield* setSecret(ada, "A", text)
        yield* destroy(ada, "A", [2])
        // An append of the old schema had its index.
        yield* (yield* AuditIndex).catchUpAll
        return ada
      }).pipe(Effect.provide(historyAt(content)))

      const path = yield* databaseOfSchema(8, content)
      const before = yield* versionRows(path)
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* versionRows(path), yield* versionRows(content))
        const { data } = yield* readBundle(ada)
        assert.strictEqual(data?.length, names.length + 1)
        for (const [version, value] of [
          [1, ""],
          [3, "y".repeat(65_536)],
          [4, "last"]
        ] as const) {
          assert.strictEqual((yield* readSecret(ada, "A", { version })).value, value)
        }
        assert.strictEqual(yield* outcome(readSecret(ada, "A", { version: 2 })), "NotFound")
      }).pipe(Effect.provide(historyAt(path)))
      yield* invariants(path)

      assert.strictEqual(yield* schemaOf(`${path}.before-0009`), 8)
      assert.deepStrictEqual(yield* versionRows(`${path}.before-0009`), before)
      yield* Effect.provide(destroy(ada, "A", [3]), historyAt(path))
      const kept = yield* versionRows(`${path}.before-0009`)
      const emptied = kept.filter((row, index) => !isDeepStrictEqual(row, before[index]))
      assert.strictEqual(emptied.length, 1, "a version is erased in the copy too, whose schema is the earlier one")
      assert.deepInclude(emptied[0], { version: 3, wrapped_key: null, key_nonce: null, ciphertext: Buffer.alloc(0) })
    })
  )

  it.scoped("is as it was when a version cannot be stored", () =>
    Effect.gen(function* () {
      const content = yield* freshPath
      yield* Effect.gen(function* () {
        const ada = yield* organization()
        yield* writeBundle(ada, { set: Object.fromEntries(names.map((name) => [name, name])) })
      }).pipe(Effect.provide(historyAt(content)))
      const path = yield* databaseOfSchema(8, content)
      // The last of all versions: those before it were copied when it fails.
      yield* Effect.scoped(
        Effect.map(rawAt(path), (db) => {
          db.pragma("ignore_check_constraints = ON")
          db.exec(`UPDATE secret_versions SET wrapped_key = NULL WHERE secret_id = (SELECT max(id) FROM secrets)`)
        })
      )
      const before = yield* versionRows(path)
      const failed = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, historyAt(path))))
      assert.include(String(failed), "it is as it was before")
      assert.strictEqual(yield* schemaOf(path), 8)
      assert.deepStrictEqual(yield* versionRows(path), before)
    })
  )
})
