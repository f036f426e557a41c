import { createHash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { schemaDigest } from "@coffer/server/database/sqlite/SchemaDigest"
import { applyRestore } from "@coffer/server/operations/backups/Apply"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import {
  configAt,
  freshPath,
  listSecrets,
  organization,
  outcome,
  person,
  removeSecret,
  servicesAt,
  setSecret
} from "../../support/Services.js"

/** Schema changes that a program beside the server may make, and the message about each at the next start. */
const changes: ReadonlyArray<readonly [statement: string, undo: string, said: RegExp]> = [
  [
    "CREATE TRIGGER planted BEFORE UPDATE OF removed_at ON secrets BEGIN SELECT RAISE(IGNORE); END",
    "DROP TRIGGER planted",
    /the trigger planted does not belong there/
  ],
  ["CREATE VIEW seen AS SELECT * FROM users", "DROP VIEW seen", /the view seen does not belong there/],
  ["CREATE TABLE more (a)", "DROP TABLE more", /the table more does not belong there/],
  [
    "DROP TRIGGER audit_entries_no_update",
    `CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
    BEGIN SELECT RAISE(ABORT, 'audit entries are immutable'); END`,
    /the trigger audit_entries_no_update is missing/
  ],
  [
    "DROP INDEX secrets_live; CREATE INDEX secrets_live ON secrets (env_id, key) WHERE removed_at IS NULL",
    "DROP INDEX secrets_live; CREATE UNIQUE INDEX secrets_live ON secrets (env_id, key) WHERE removed_at IS NULL",
    /the index secrets_live is not as Coffer made it/
  ]
]

const behind = (path: string, statement: string) =>
  Effect.sync(() => {
    const database = new Sqlite(path)
    database.exec(statement)
    database.close()
  })

const filled = (path: string) =>
  Effect.provide(
    Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "x")),
    servicesAt(path)
  )

const started = (path: string) => Effect.provide(Effect.void, servicesAt(path))

it.scoped("a database that the migrations made has the digest that a start compares: run npm run generate", () =>
  Effect.gen(function* () {
    const path = yield* freshPath
    yield* started(path)
    const database = new Sqlite(path, { readonly: true })
    const rows = database
      .prepare<[], { type: string; name: string }>(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4')"
      )
      .all()
    database.close()
    const objects = rows
      .map((row) => [`${row.type} ${row.name}`, JSON.stringify(row)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    assert.strictEqual(schemaDigest, createHash("sha256").update(JSON.stringify(objects)).digest("hex"))
  })
)

describe("a database whose schema another program has changed", () => {
  for (const [statement, undo, said] of changes) {
    it.scoped(`is refused at the start, and taken again once the change is undone: ${statement}`, () =>
      Effect.gen(function* () {
        const path = yield* freshPath
        yield* filled(path)
        yield* started(path)
        yield* behind(path, statement)
        const refused = yield* Effect.flip(started(path))
        assert.strictEqual(refused._tag, "StartupError")
        assert.match(refused.message, said)
        yield* behind(path, undo)
        yield* started(path)
      })
    )
  }

  it.scoped("is not put in a database's place by restore --apply", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      const [[statement, , said] = assert.fail()] = changes
      const restored = `${path}.restore`
      yield* behind(path, `VACUUM INTO '${restored}'`)
      yield* behind(restored, statement)
      const before = statSync(path)
      const refused = yield* Effect.flip(applyRestore(restored).pipe(Effect.provide(configAt(path))))
      assert.match(refused.message, said)
      assert.strictEqual(statSync(path).ino, before.ino)
      assert.isFalse(readdirSync(dirname(path)).some((name) => name.includes("replaced")))
    })
  )

  it.scoped("would otherwise make a removal do nothing", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      yield* Effect.gen(function* () {
        const ada = yield* person("ada@example.com")
        const [[statement] = assert.fail()] = changes
        yield* behind(path, statement)
        assert.strictEqual(yield* outcome(removeSecret(ada, "A")), "success")
        assert.lengthOf(yield* listSecrets(ada), 1)
      }).pipe(Effect.provide(servicesAt(path)))
    })
  )

  it.scoped("has statistics of its own, which are no change", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* filled(path)
      yield* behind(path, "ANALYZE")
      yield* started(path)
    })
  )
})
