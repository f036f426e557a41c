import { statSync } from "node:fs"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/Names"
import type { PageRequest } from "@coffer/server/audit/Trail"
import { clientOf } from "@coffer/server/database/sqlite/Connection"
import { migrate, migrations } from "@coffer/server/database/sqlite/Migrations"
import { initial } from "@coffer/server/database/sqlite/migrations/0001_initial"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everythingAt } from "../../model/Support.js"
import { historyAt, listRevisions, revert, undelete } from "../../history/Support.js"
import {
  envPath,
  freshPath,
  invariants,
  newProject,
  organization,
  outcome,
  rawAt,
  readSecret,
  removeSecret,
  setSecret,
  writeBundle
} from "../../support/Services.js"
import { list, listAll, type Log, newOrganization, root, verify, verifyAll, write } from "../../trail/Support.js"

/** A database as a program that knew the first migration alone has left it, with what another database holds. */
const databaseOfFirstSchema = (content: string) =>
  Effect.gen(function* () {
    const path = yield* freshPath
    yield* Effect.scoped(
      Effect.gen(function* () {
        const client = yield* clientOf(path)
        yield* Effect.provideService(migrate(path, { "0001_initial": initial }), SqlClient.SqlClient, client)
        yield* client`ATTACH ${content} AS content`
        const tables = yield* client<{ name: string }>`
          SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'effect_sql_migrations'`
        yield* client`PRAGMA foreign_keys = OFF`
        for (const { name } of tables) {
          const columns = yield* client<{ name: string }>`SELECT name FROM pragma_table_info(${name}, 'main')`
          const names = columns.map((column) => column.name).join(", ")
          yield* client.unsafe(`INSERT INTO main.${name} (${names}) SELECT ${names} FROM content.${name}`)
        }
      })
    ).pipe(Effect.provide(Reactivity.layer))
    return path
  })

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
        return ada
      }).pipe(Effect.provide(historyAt(content)))

      const path = yield* databaseOfFirstSchema(content)
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

      const path = yield* databaseOfFirstSchema(content)
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
