import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { entries, freshPath, organization, outcome, raw, removeSecret, setSecret } from "../support/Services.js"
import { backupsAt, createBackup, drillBackupBy, listBackups, noStrays, recording, refusing } from "./Support.js"

const freshDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-directory-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Runs a test with backups in a directory; the database may be damaged at its end. */
const inDirectory = <A, E, R>(test: (directory: string) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const directory = yield* freshDirectory
    const path = yield* freshPath
    return yield* Effect.provide(Effect.scoped(test(directory)), backupsAt(path, { BACKUP_DIR: directory }))
  }).pipe(Effect.scoped)

const drill = (id?: string) => drillBackupBy(id, recording)

/** The path of a backup's file. */
const fileOf = (directory: string, id: string): string =>
  join(
    directory,
    readdirSync(directory, { recursive: true, encoding: "utf8" }).find((name) => name.includes(id)) ?? "absent"
  )

const lived = Effect.gen(function* () {
  const ada = yield* organization()
  yield* setSecret(ada, "KEPT", "one")
  yield* setSecret(ada, "KEPT", "two")
  yield* setSecret(ada, "GONE", "three")
  yield* removeSecret(ada, "GONE")
})

describe("a drill", () => {
  it.live("is not recorded where whoever asked may not any more", () =>
    inDirectory(() =>
      Effect.gen(function* () {
        yield* lived
        yield* createBackup
        assert.strictEqual(yield* outcome(drillBackupBy(undefined, refusing)), "Forbidden")
        const db = yield* raw
        assert.deepStrictEqual(db.prepare("SELECT * FROM drills").all(), [])
        assert.isFalse((yield* entries("system")).some(({ action }) => action === "backup.drill"))
      })
    )
  )

  it.live("opens the newest backup, checks every value and log, says how much it holds and leaves nothing", () =>
    inDirectory(() =>
      Effect.gen(function* () {
        assert.strictEqual(yield* outcome(drill()), "NotFound")
        yield* lived
        yield* createBackup
        const backup = yield* createBackup
        const result = yield* drill()
        assert.deepStrictEqual(result, {
          backup,
          valid: true,
          problems: [],
          age_seconds: result.age_seconds,
          seconds: result.seconds,
          counts: {
            organizations: 1,
            projects: 1,
            environments: result.counts?.environments ?? 0,
            secrets: 1,
            versions: 3,
            entries: result.counts?.entries ?? 0
          }
        })
        assert.isAbove(result.counts?.entries ?? 0, 5)
        assert.isAtLeast(result.seconds, 0)
        assert.deepStrictEqual(yield* noStrays, [])
        const [entry] = (yield* entries("system")).slice(-1)
        assert.deepStrictEqual(
          [entry?.action, entry?.actor, entry?.resource_id, entry?.metadata],
          [
            "backup.drill",
            "root@example.com",
            backup.id,
            {
              id: backup.id,
              size_bytes: backup.size_bytes,
              trigger: "manual",
              valid: true,
              problems: [],
              via: "superadmin"
            }
          ]
        )
        assert.deepStrictEqual((yield* raw).prepare("SELECT backup_id, valid FROM drills").all(), [
          { backup_id: backup.id, valid: 1 }
        ])
      })
    )
  )

  const finds = (what: string, damage: string, problem: RegExp) => {
    it.live(`finds ${what}, and names it by ids`, () =>
      inDirectory(() =>
        Effect.gen(function* () {
          yield* lived
          const database = yield* raw
          database.pragma("foreign_keys = OFF")
          database.exec(damage)
          const backup = yield* createBackup
          const { problems, valid } = yield* drill(backup.id)
          assert.isFalse(valid)
          assert.match(problems.join("\n"), problem)
          assert.notMatch(problems.join("\n"), /KEPT|GONE|three/)
          assert.deepStrictEqual(yield* noStrays, [])
          assert.deepStrictEqual((yield* raw).prepare("SELECT backup_id, valid FROM drills").all(), [
            { backup_id: backup.id, valid: 0 }
          ])
        })
      )
    )
  }
  finds(
    "a value that was edited, of an old version too",
    "UPDATE secret_versions SET ciphertext = randomblob(length(ciphertext)) WHERE version = 1 AND secret_id = (SELECT id FROM secrets WHERE key = 'KEPT')",
    /^version 1 of secret [0-9a-f-]{36} does not open$/
  )
  finds(
    "a data key that was swapped",
    "UPDATE secret_versions SET wrapped_key = (SELECT wrapped_key FROM secret_versions WHERE version = 2) WHERE version = 1",
    /version 1 of secret [0-9a-f-]{36} does not open/
  )
  finds(
    "a secret that was set back to an older version",
    "UPDATE secrets SET version = 1 WHERE key = 'KEPT'",
    /^secret [0-9a-f-]{36} does not point to its newest version$/
  )
  finds(
    "an audit log whose head was edited",
    "UPDATE audit_heads SET chain = lower(hex(randomblob(32)))",
    /^audit log [0-9a-f-]{36} does not verify from entry \d+ on$/
  )
  finds(
    "a database under another key",
    "UPDATE wrapped_keys SET ciphertext = randomblob(length(ciphertext)) WHERE name = 'check'",
    /SERVICE_MASTER_KEY does not open this database/
  )

  it.live("finds a file that was edited, and is no error", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const backup = yield* createBackup
        const path = fileOf(directory, backup.id)
        const bytes = readFileSync(path)
        bytes[9000] = (bytes[9000] ?? 0) ^ 1
        writeFileSync(path, bytes)
        const { counts, problems, valid } = yield* drill()
        assert.deepStrictEqual([valid, counts], [false, null])
        assert.match(problems.join(), /does not authenticate/)
        assert.deepStrictEqual(yield* noStrays, [])
      })
    )
  )

  it.live("knows backups under another key and of other instances, and what is not there", () =>
    inDirectory((directory) =>
      Effect.gen(function* () {
        const path = yield* freshPath
        const key = "ab".repeat(32)
        const foreign = yield* Effect.provide(
          createBackup,
          backupsAt(path, { BACKUP_DIR: directory, SERVICE_MASTER_KEY: key })
        )
        assert.strictEqual(yield* outcome(drill(foreign.id)), "Conflict")
        assert.strictEqual(yield* outcome(drill("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e")), "NotFound")
        const other = yield* Effect.provide(createBackup, backupsAt(yield* freshPath, { BACKUP_DIR: directory }))
        assert.isTrue((yield* drill(other.id)).valid)
        assert.strictEqual(yield* outcome(drill()), "NotFound", "none of them is this server's")
        assert.strictEqual((yield* listBackups).length, 2)
      })
    )
  )
})
