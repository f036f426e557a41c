import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { Erasures } from "@coffer/server/database/Erasures"
import { Maintenance } from "@coffer/server/operations/maintenance/Maintenance"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { failingStatement } from "../support/FailingDriver.js"
import { logged } from "../support/Logged.js"
import {
  DbPath,
  freshPath,
  invariants,
  organization,
  outcome,
  rawAt,
  readSecret,
  setSecret
} from "../support/Services.js"
import { filesOf, piecesIn, sealedBytes } from "./Sealed.js"
import { destroying, historyAt, onHistory } from "./Support.js"

const sweep = Effect.flatMap(Maintenance, ({ sweep }) => sweep).pipe(Effect.provide(Maintenance.Default))

/** The bytes of a file that SQLite locks for whoever reads it (sqlite.org/fileformat2.html, the lock-byte page). */
const [sharedFirst, sharedLast] = [0x40000002, 0x40000002 + 509]

/** How many erasures the file says are not done. */
const notes = Effect.map(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ user_version: number }>`PRAGMA user_version`),
  ([row]) => row?.user_version
)

/** Leaves copies of byte strings on free pages, as moving rows between pages can leave them in a page's gap. */
const leaveCopies = (all: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`PRAGMA secure_delete = OFF`
    yield* sql`CREATE TABLE copies (bytes BLOB)`
    for (const bytes of all) yield* sql`INSERT INTO copies (bytes) VALUES (${bytes})`
    yield* sql`DROP TABLE copies`
    yield* sql`PRAGMA secure_delete = ON`
  })

const versionsOf = (actor: Parameters<typeof setSecret>[0], texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => setSecret(actor, "A", text), { discard: true })

describe("the erasure of a destroyed version", () => {
  it.effect("rewrites the file where copies of its data key are left in it, and not on this thread", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      yield* versionsOf(ada, ["gone", "current"])
      const sealed = yield* sealedBytes([1])
      yield* leaveCopies(sealed)
      const { exit, statement } = yield* failingStatement(
        1,
        destroying(ada, "A", [1]),
        /VACUUM|wal_checkpoint\((?!NOOP)/
      )
      assert.isUndefined(statement)
      assert.deepInclude(yield* exit, { erased: "now" })
      assert.strictEqual(piecesIn(filesOf(path), sealed), 0)
      assert.strictEqual(yield* notes, 0)
      assert.strictEqual((yield* readSecret(ada, "A")).value, "current")
    }).pipe(onHistory)
  )

  it.effect("is pending while a connection reads the pages of before, and done once that has ended", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      yield* versionsOf(ada, ["gone", "gone too", "current"])
      const sealed = yield* sealedBytes([1])
      const size = statSync(path).size
      const snapshot = yield* rawAt(path, { readonly: true })
      snapshot.exec("BEGIN")
      snapshot.prepare("SELECT * FROM secrets").all()

      const answer = yield* destroying(ada, "A", [1])
      assert.strictEqual(answer.erased, "pending")
      assert.deepInclude(answer.data[0], { version: 1, destroyed: true })
      assert.strictEqual(yield* notes, 1)
      assert.isAbove(piecesIn(filesOf(path), sealed), 0)
      assert.strictEqual((yield* destroying(ada, "A", [1])).erased, "pending", "asked for again")

      // A running erasure must not be logged as an interrupted one.
      yield* sweep
      assert.strictEqual(yield* notes, 1)
      assert.notInclude(lines.join("\n"), "interrupted erasure")
      assert.include(lines.join("\n"), "WARN destroyed versions are not erased yet")

      snapshot.exec("COMMIT")
      yield* TestClock.adjust("1 minute")
      yield* Effect.flatMap(Erasures, ({ finish }) => finish)
      assert.strictEqual(piecesIn(filesOf(path), sealed), 0)
      assert.strictEqual(yield* notes, 0)
      assert.strictEqual((yield* destroying(ada, "A", [1])).erased, "now")
      assert.strictEqual((yield* destroying(ada, "A", [2])).erased, "now")
      assert.notInclude(lines.join("\n"), "interrupted erasure")
      assert.isAtLeast(statSync(path).size, size, "the file was not rewritten where nothing was left in it")
    }).pipe(Effect.provide(layer), onHistory)
  })

  it.effect("is done by the next server on the file, when the one that began it was killed", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const path = yield* freshPath
      const sealed = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const ada = yield* organization()
        yield* versionsOf(ada, ["gone", "current"])
        const bytes = yield* sealedBytes([1])
        yield* leaveCopies(bytes)
        // As far as the transaction comes that destroys.
        yield* sql`UPDATE secret_versions SET wrapped_key = NULL, destroyed_at = created_at,
          ciphertext = x'' WHERE version = 1`
        yield* sql`PRAGMA user_version = 1`
        return bytes
      }).pipe(Effect.provide(historyAt(path)))
      assert.isAbove(piecesIn(filesOf(path), sealed), 0)
      yield* Effect.gen(function* () {
        const erasures = yield* Erasures
        assert.strictEqual(yield* erasures.state, "pending")
        yield* sweep
        assert.strictEqual(piecesIn(filesOf(path), sealed), 0)
        assert.strictEqual(yield* notes, 0)
        assert.strictEqual(yield* erasures.state, "now")
      }).pipe(Effect.provide(historyAt(path)))
      assert.include(lines.join("\n"), "an interrupted erasure of secrets is now complete")
      yield* invariants(path)
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  it.effect("is done for all that ask at once", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      const versions = [1, 2, 3, 4, 5, 6, 7, 8]
      yield* versionsOf(ada, [...versions.map(String), "current"])
      const sealed = yield* sealedBytes(versions)
      const answers = yield* Effect.forEach(versions, (version) => destroying(ada, "A", [version]), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(
        answers.map(({ erased }) => erased),
        versions.map(() => "now")
      )
      assert.strictEqual(piecesIn(filesOf(path), sealed), 0)
      assert.strictEqual(yield* notes, 0)
    }).pipe(onHistory)
  )

  it.effect("reaches the copy that was kept before a migration, and leaves the rest of it as it was", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      yield* versionsOf(ada, ["gone", "kept", "current"])
      const copy = `${path}.before-0003`
      const sql = yield* SqlClient.SqlClient
      yield* sql`VACUUM INTO ${copy}`
      const [gone, kept] = [yield* sealedBytes([1]), yield* sealedBytes([2, 3])]
      assert.strictEqual(piecesIn(readFileSync(copy), gone), gone.length)
      assert.strictEqual((yield* destroying(ada, "A", [1])).erased, "now")
      assert.strictEqual(piecesIn(readFileSync(copy), gone), 0)
      assert.strictEqual(piecesIn(readFileSync(copy), kept), kept.length)
      assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
      assert.include(lines.join("\n"), `destroyed versions were erased in ${copy} too`)
      const opened = yield* rawAt(copy, { readonly: true })
      assert.strictEqual(opened.pragma("integrity_check", { simple: true }), "ok")
      assert.deepStrictEqual(
        opened.prepare("SELECT version, destroyed_at IS NULL AS whole FROM secret_versions ORDER BY version").all(),
        [
          { version: 1, whole: 0 },
          { version: 2, whole: 1 },
          { version: 3, whole: 1 }
        ]
      )
    }).pipe(Effect.provide(layer), onHistory)
  })

  it.effect("stays pending while that copy cannot be written, and says why", () => {
    const { layer, lines } = logged()
    return Effect.gen(function* () {
      const path = yield* DbPath
      const ada = yield* organization()
      yield* versionsOf(ada, ["gone", "current"])
      writeFileSync(`${path}.before-0003`, "no database at all, but long enough to be looked at", { mode: 0o600 })
      assert.strictEqual((yield* destroying(ada, "A", [1])).erased, "pending")
      assert.strictEqual(yield* notes, 1)
      assert.include(lines.join("\n"), "ERROR destroyed versions could not be erased")
      assert.strictEqual(yield* outcome(readSecret(ada, "A", { version: 1 })), "NotFound")
    }).pipe(Effect.provide(layer), onHistory)
  })

  // To close any descriptor of a file would end all locks that the process has on it.
  it.runIf(existsSync("/proc/locks"))(
    "leaves the lock in force that tells other programs that the database is in use",
    () =>
      Effect.runPromise(
        Effect.gen(function* () {
          const path = yield* DbPath
          const ada = yield* organization()
          yield* versionsOf(ada, ["gone", "current"])
          const isLocked = () =>
            readFileSync("/proc/locks", "utf8").includes(`:${statSync(path).ino} ${sharedFirst} ${sharedLast}`)
          assert.isTrue(isLocked())
          assert.strictEqual((yield* destroying(ada, "A", [1])).erased, "now")
          assert.isTrue(isLocked())
        }).pipe(onHistory)
      )
  )
})
