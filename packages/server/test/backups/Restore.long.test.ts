import { createSecretKey, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { BackupOpener, sealBackup } from "@coffer/server/operations/backups/BackupFile"
import { restoreBeside } from "@coffer/server/operations/backups/Restore"
import { settle } from "@coffer/server/database/sqlite/Settle"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect, Either, Exit, Stream } from "effect"
import { failingStatement } from "../support/FailingDriver.js"

const key = createSecretKey(randomBytes(32))
const created_at = "2026-01-31T12:00:00.000Z"
const mark = { id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e", name: "instance/one.bak" }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-restore-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The smallest database that a restore takes: a few pages of 512 bytes. */
const smallDatabase = (rows: ReadonlyArray<typeof mark> = [mark]) =>
  Effect.scoped(
    Effect.map(folder, (path) => {
      const database = new Sqlite(join(path, "small.db"))
      database.pragma("page_size = 512")
      database.exec("CREATE TABLE instance (epoch TEXT); INSERT INTO instance VALUES ('before')")
      database.exec("CREATE TABLE backup (id TEXT, name TEXT)")
      database.exec("CREATE TABLE audit_heads (log TEXT, seq INTEGER, chain TEXT)")
      for (const { id, name } of rows) database.prepare("INSERT INTO backup VALUES (?, ?)").run(id, name)
      database.close()
      return readFileSync(join(path, "small.db"))
    })
  )

const seal = (content: Uint8Array) =>
  Effect.promise(async () => {
    const pieces: Array<Uint8Array> = []
    const source = async function* () {
      yield await Promise.resolve(content)
    }
    for await (const piece of sealBackup(key, randomBytes(12), source())) pieces.push(piece)
    return Buffer.concat(pieces)
  })

const restore = (path: string, file: Uint8Array, size = file.length) =>
  restoreBeside({ dbPath: join(path, "service.db"), key, mark, created_at, size, content: Stream.make(file) })

const refusedTracelessly = (path: string, file: Uint8Array, what: string) =>
  Effect.gen(function* () {
    const outcome = yield* Effect.either(restore(path, file, 1_000_000))
    assert.isTrue(Either.isLeft(outcome), what)
    if (Either.isLeft(outcome)) assert.strictEqual(outcome.left._tag, "DecryptionFailed", what)
  })

describe("restoring beside the database", () => {
  it.live("writes the database whole, for its owner alone, without the mark and with a new epoch", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const file = yield* seal(yield* smallDatabase())
      const restored = yield* restore(path, file)
      assert.strictEqual(restored.path, join(path, `service.db.restore.${mark.id}`))
      assert.deepStrictEqual(readdirSync(path), [`service.db.restore.${mark.id}`])
      const { mode, size } = statSync(restored.path)
      assert.strictEqual(mode & 0o777, 0o600)
      assert.strictEqual(size, restored.size_bytes)
      const database = new Sqlite(restored.path, { readonly: true })
      assert.match(String(database.prepare("SELECT epoch FROM instance").pluck().get()), /^[0-9a-f]{16}$/)
      assert.deepStrictEqual(database.prepare("SELECT name FROM sqlite_schema").pluck().all(), [
        "instance",
        "audit_heads",
        "restores"
      ])
      database.close()
      // Once more, over the file that is there.
      yield* restore(path, file)
      assert.deepStrictEqual(readdirSync(path), [`service.db.restore.${mark.id}`])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a backup with any byte changed or cut off, and leaves no file", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const file = yield* seal(yield* smallDatabase())
      const positions = Array.from({ length: file.length }, (_, at) => at)
      yield* Effect.forEach(
        positions,
        (at) => {
          const changed = Buffer.from(file)
          changed[at] = (changed[at] ?? 0) ^ (1 + (at % 255))
          return refusedTracelessly(path, changed, `byte ${at}`)
        },
        { concurrency: 8 }
      )
      yield* Effect.forEach(
        positions.filter((at) => at < 40 || at > file.length - 20 || at % 97 === 0),
        (at) => refusedTracelessly(path, file.subarray(0, at), `cut at ${at}`),
        { concurrency: 8 }
      )
      yield* refusedTracelessly(path, Buffer.concat([file, file]), "twice")
      assert.deepStrictEqual(readdirSync(path), [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses what is sealed with the right key and is not the backup asked for", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const contents = [
        Buffer.alloc(0),
        Buffer.from("no database at all, and longer than a header"),
        Buffer.concat([Buffer.from("SQLite format 3\0"), randomBytes(2000)]),
        yield* smallDatabase([]),
        yield* smallDatabase([mark, mark]),
        yield* smallDatabase([{ ...mark, id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2f" }]),
        yield* smallDatabase([{ ...mark, name: "instance/two.bak" }])
      ]
      for (const [index, content] of contents.entries()) {
        yield* refusedTracelessly(path, yield* seal(content), `content ${index}`)
      }
      assert.deepStrictEqual(readdirSync(path), [])
    }).pipe(Effect.scoped)
  )

  it.live("does not pass for whole when any statement on what is restored fails", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "snapshot.db")
      const snapshot = yield* smallDatabase()
      const settling = Effect.try(() => settle({ path, ...mark, created_at, restored_at: created_at }))
      let failed = 0
      for (let at = 1; ; at++) {
        writeFileSync(path, snapshot)
        const { exit, statement } = yield* failingStatement(at, settling)
        if (statement === undefined) {
          assert.isTrue(Exit.isSuccess(exit) && exit.value !== null)
          break
        }
        assert.isTrue(Exit.isFailure(exit) || exit.value === null, statement)
        failed++
      }
      assert.isAbove(failed, 3)
    }).pipe(Effect.scoped)
  )

  it.live("leaves no file when what is restored cannot be made a database of its own", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const before = join(path, "before.db")
      writeFileSync(before, yield* smallDatabase())
      const database = new Sqlite(before)
      database.exec("DROP TABLE instance")
      database.close()
      const content = readFileSync(before)
      rmSync(before)
      assert.strictEqual((yield* Effect.flip(restore(path, yield* seal(content))))._tag, "LocalFailure")
      assert.deepStrictEqual(readdirSync(path), [])
    }).pipe(Effect.scoped)
  )

  it.live("takes no more from the store than it said there is", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const endless = Stream.concat(
        Stream.make(yield* seal(yield* smallDatabase())),
        Stream.repeatValue(randomBytes(1000))
      )
      const request = { dbPath: join(path, "service.db"), key, mark, created_at, size: 100_000, content: endless }
      assert.strictEqual((yield* Effect.flip(restoreBeside(request)))._tag, "DecryptionFailed")
      assert.deepStrictEqual(readdirSync(path), [])
    }).pipe(Effect.scoped)
  )

  it("hands out nothing that could be taken for checked: the tag comes last", () => {
    const opener = new BackupOpener(key)
    assert.isTrue(Either.isLeft(opener.end()))
  })
})
