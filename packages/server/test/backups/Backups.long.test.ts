import { statSync, writeFileSync } from "node:fs"
import { join, dirname } from "node:path"
import { Access } from "@coffer/server/access/Access"
import { Instance } from "@coffer/server/keys/Instance"
import { Keyring } from "@coffer/server/keys/Keyring"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect, Fiber, Layer, Logger } from "effect"
import {
  account,
  asActor,
  DbPath,
  entries,
  freshPath,
  invariants,
  organization,
  outcome,
  person,
  raw,
  readSecret,
  setSecret
} from "../support/Services.js"
import {
  beginUpload,
  copyObject,
  freshSettings,
  isOwnEndpoint,
  keysBelow,
  readObject,
  removeObject,
  uploadsBelow,
  writeObject
} from "./Endpoint.js"
import {
  backupsAt,
  createBackup,
  createBackupBy,
  listBackups,
  noStrays,
  refusing,
  restoreBackup,
  restoreBackupBy,
  strays,
  scheduledBackup,
  withBackups
} from "./Support.js"

const objectsOf = (settings: { readonly BACKUP_S3_PREFIX: string }) =>
  Effect.promise(() => keysBelow(settings.BACKUP_S3_PREFIX))

const uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

describe("backups", () => {
  const here = freshSettings()
  it.live("are objects named by instance, time, trigger, key and id, and are restored beside the database", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "KEY", "as it was")
      const backup = yield* createBackup
      yield* setSecret(ada, "KEY", "as it is")

      const instance = yield* Instance
      const keyring = yield* Keyring
      assert.strictEqual(backup.instance, instance.id)
      assert.strictEqual(backup.key_fingerprint, keyring.fingerprint)
      assert.strictEqual(backup.trigger, "manual")
      const [name = "", ...others] = yield* objectsOf(here)
      assert.deepStrictEqual(others, [])
      assert.match(
        name,
        new RegExp(`^${here.BACKUP_S3_PREFIX}${uuid}/\\d{8}T\\d{6}\\.\\d{3}Z_manual_[0-9a-f]{16}_${uuid}\\.bak$`)
      )
      assert.include(
        name,
        `/${backup.created_at.replace(/[-:]/g, "")}_manual_${backup.key_fingerprint}_${backup.id}.bak`
      )
      const object = yield* Effect.promise(() => readObject(name))
      assert.strictEqual(object.length, backup.size_bytes)
      assert.strictEqual(object.subarray(0, 5).toString("latin1"), "CFRB\x01")
      assert.notInclude(object.toString("latin1"), "ada@example.com")
      assert.deepStrictEqual(yield* listBackups, [backup])

      const path = yield* DbPath
      const restored = yield* restoreBackup(backup.id)
      assert.deepStrictEqual(
        { id: restored.id, path: restored.path },
        { id: backup.id, path: `${path}.restore.${backup.id}` }
      )
      const { mode, size } = statSync(restored.path)
      assert.deepStrictEqual([mode & 0o777, size], [0o600, restored.size_bytes])
      assert.deepStrictEqual(yield* noStrays, [`service.db.restore.${backup.id}`])
      assert.strictEqual((yield* readSecret(ada, "KEY")).value, "as it is")
      yield* invariants(restored.path)

      const copy = yield* Effect.provide(
        Effect.all({ secret: readSecret(ada, "KEY"), instance: Instance }),
        backupsAt(restored.path, here)
      )
      assert.strictEqual(copy.secret.value, "as it was")
      assert.strictEqual(copy.instance.id, instance.id)
      assert.notStrictEqual(copy.instance.epoch, instance.epoch)

      const metadata = { id: backup.id, size_bytes: backup.size_bytes, trigger: "manual", via: "superadmin" }
      assert.deepStrictEqual(
        (yield* entries("system")).map(({ action, actor, metadata, resource }) => ({
          action,
          actor,
          metadata,
          resource
        })),
        ["backup.create", "backup.restore"].map((action) => ({
          action,
          actor: "root@example.com",
          metadata,
          resource: ["backup", backup.id]
        }))
      )
    }).pipe(withBackups(here))
  )

  const large = freshSettings()
  it.live("go up in parts when they are large, and come back the same", () =>
    Effect.gen(function* () {
      const database = yield* raw
      database.exec("CREATE TABLE filler (bytes BLOB) STRICT; INSERT INTO filler VALUES (randomblob(13000000))")
      const backup = yield* createBackup
      assert.isAbove(backup.size_bytes, 13_000_000)
      assert.deepStrictEqual(yield* listBackups, [backup])
      const { path } = yield* restoreBackup(backup.id)
      const bytes = (connection: Sqlite.Database) => connection.prepare("SELECT bytes FROM filler").pluck().get()
      const copy = new Sqlite(path, { readonly: true })
      assert.deepStrictEqual(bytes(copy), bytes(database))
      copy.close()
    }).pipe(withBackups(large))
  )

  const busy = freshSettings()
  it.live("are whole while others write, and hold nobody up", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const path = yield* DbPath
      let writes = 0
      const writer = yield* Effect.forkScoped(
        Effect.forever(
          Effect.suspend(() => setSecret(ada, `KEY_${writes % 7}`, `value ${writes++}`)).pipe(
            Effect.zipLeft(Effect.sleep("4 millis"))
          )
        )
      )
      const before: Array<number> = []
      for (let round = 0; round < 3; round++) {
        before.push(writes)
        const backup = yield* createBackup
        const restored = yield* restoreBackup(backup.id)
        yield* invariants(restored.path)
      }
      yield* Fiber.interrupt(writer)
      assert.isAbove(writes, (before.at(-1) ?? 0) + 5, "the writer went on during the last backup")
      assert.strictEqual(strays(path).length, 3)
    }).pipe(withBackups(busy))
  )

  const many = freshSettings()
  it.live("are made one at a time, and a caller who hangs up does not end one", () =>
    Effect.gen(function* () {
      const backups = yield* Effect.all([createBackup, createBackup, createBackup], { concurrency: "unbounded" })
      assert.strictEqual(new Set(backups.map(({ id }) => id)).size, 3)
      const hungUp = yield* Effect.fork(createBackup)
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(hungUp)
      // It waits for the one that goes on.
      yield* createBackup
      assert.strictEqual((yield* listBackups).length, 5)
      assert.deepStrictEqual(yield* noStrays, [])
    }).pipe(withBackups(many))
  )

  const shared = freshSettings()
  it.live("of every instance are listed, newest first, and nothing else that lies about", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const other = yield* Effect.provide(createBackup, backupsAt(path, shared))
      const own = yield* createBackup
      assert.notStrictEqual(own.instance, other.instance)
      const [name = ""] = (yield* objectsOf(shared)).filter((key) => key.includes(own.id))
      const foreign = [
        `${shared.BACKUP_S3_PREFIX}readme.txt`,
        `${name}.old`,
        name.replace(".bak", ""),
        name.replace("_manual_", "_other_"),
        name.replace(/\d{8}T/, "20261399T"),
        name.replace(own.id, own.id.toUpperCase()),
        name.replace(shared.BACKUP_S3_PREFIX, `${shared.BACKUP_S3_PREFIX}deeper/`)
      ]
      yield* Effect.promise(() => Promise.all(foreign.map((key) => writeObject(key, "not a backup"))))
      assert.deepStrictEqual(yield* listBackups, [own, other])
      // The other one's too can be restored here: a fresh machine finds what another has left.
      const restored = yield* restoreBackup(other.id)
      yield* invariants(restored.path)
    }).pipe(withBackups(shared))
  )

  const swapped = freshSettings()
  it.live("whose objects were swapped, renamed, cut or edited are refused, and no file is left", () =>
    Effect.gen(function* () {
      const first = yield* createBackup
      const second = yield* createBackup
      const names = yield* objectsOf(swapped)
      const nameOf = (id: string) => names.find((name) => name.includes(id)) ?? ""
      const [one, two] = [nameOf(first.id), nameOf(second.id)]
      const bytes = yield* Effect.promise(() => readObject(two))
      const refused = Effect.gen(function* () {
        assert.strictEqual(yield* outcome(restoreBackup(second.id)), "DecryptionFailed")
        assert.deepStrictEqual(yield* noStrays, [])
      })

      yield* Effect.promise(() => copyObject(one, two))
      yield* refused

      for (const at of [0, 3, 4, 5, 16, 17, 5000, bytes.length - 17, bytes.length - 16, bytes.length - 1]) {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ 0x40
        yield* Effect.promise(() => writeObject(two, changed))
        yield* refused
      }
      for (const length of [0, 1, 16, 17, 32, 33, 5000, bytes.length - 1]) {
        yield* Effect.promise(() => writeObject(two, bytes.subarray(0, length)))
        yield* refused
      }
      yield* Effect.promise(() => writeObject(two, Buffer.concat([bytes, Buffer.from([0])])))
      yield* refused

      // Under the same id, a name that tells another time, trigger or instance.
      yield* Effect.promise(() => removeObject(two))
      for (const renamed of [
        two.replace("_manual_", "_scheduled_"),
        two.replace(/\/\d{4}(\d{4}T)/, "/2030$1"),
        two.replace(second.instance, first.id)
      ]) {
        assert.notStrictEqual(renamed, two)
        yield* Effect.promise(() => writeObject(renamed, bytes))
        yield* refused
        yield* Effect.promise(() => removeObject(renamed))
      }

      yield* Effect.promise(() => writeObject(two, bytes))
      yield* restoreBackup(second.id)
      assert.strictEqual(
        (yield* entries("system")).filter(({ action }) => action === "backup.restore").length,
        1,
        "only what was restored is recorded"
      )
    }).pipe(withBackups(swapped))
  )

  const keys = freshSettings()
  it.live("under another master key are a conflict, and what is not there is not found", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const other = yield* Effect.provide(
        createBackup,
        backupsAt(path, { ...keys, SERVICE_MASTER_KEY: "ab".repeat(32) })
      )
      assert.include(
        (yield* listBackups).map(({ id }) => id),
        other.id
      )
      // Found by its name alone: there is nothing in it that could be downloaded and tried.
      const [name = ""] = yield* objectsOf(keys)
      yield* Effect.promise(() => writeObject(name, "x"))
      assert.strictEqual(yield* outcome(restoreBackup(other.id)), "Conflict")
      assert.strictEqual(yield* outcome(restoreBackup("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e")), "NotFound")
      assert.deepStrictEqual(yield* noStrays, [])
    }).pipe(withBackups(keys))
  )

  it.live("are off without an endpoint", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome(createBackup), "BackupsDisabled")
      assert.strictEqual(yield* outcome(listBackups), "BackupsDisabled")
      assert.strictEqual(yield* outcome(restoreBackup("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e")), "BackupsDisabled")
    }).pipe(withBackups({}))
  )

  const guarded = freshSettings()
  it.live("are a superadmin's alone, whatever else somebody is", () =>
    Effect.gen(function* () {
      const access = yield* Access
      const ada = yield* organization()
      const machine = yield* account("ci")
      for (const actor of [ada, machine, yield* person("bob@example.com")]) {
        for (const action of ["backup.create", "backup.list", "backup.restore"]) {
          assert.strictEqual(yield* outcome(access.serverPlace(action).pipe(asActor(actor))), "Forbidden")
        }
      }
      assert.strictEqual((yield* entries("system")).filter(({ action }) => action === "access.denied").length, 9)
    }).pipe(withBackups(guarded))
  )
})

// s3rver knows nothing of unfinished uploads.
describe.runIf(!isOwnEndpoint)("unfinished uploads", () => {
  const settings = freshSettings()
  it.live("that a killed server left are ended by the next backup", () =>
    Effect.gen(function* () {
      const { id } = yield* Instance
      const below = `${settings.BACKUP_S3_PREFIX}${id}/`
      yield* Effect.promise(() => beginUpload(`${below}left.bak`))
      yield* Effect.promise(() => beginUpload(`${settings.BACKUP_S3_PREFIX}other/left.bak`))
      assert.strictEqual((yield* Effect.promise(() => uploadsBelow(below))).length, 1)
      yield* createBackup
      const left = yield* Effect.promise(() => uploadsBelow(settings.BACKUP_S3_PREFIX))
      assert.deepStrictEqual(left, [`${settings.BACKUP_S3_PREFIX}other/left.bak`])
    }).pipe(withBackups(settings))
  )
})

describe("a snapshot", () => {
  const refusesTo = (what: string, damage: string) => {
    const settings = freshSettings()
    it.live(`of a database with ${what} is not called a backup`, () =>
      Effect.gen(function* () {
        yield* setSecret(yield* organization(), "KEY", "value")
        const database = yield* raw
        database.pragma("foreign_keys = OFF")
        database.unsafeMode(true)
        database.exec(damage)
        assert.strictEqual(yield* outcome(createBackup), "BackupFailed")
        assert.deepStrictEqual(yield* noStrays, [])
        assert.deepStrictEqual(yield* objectsOf(settings), [])
        assert.notInclude(
          (yield* entries("system")).map(({ action }) => action),
          "backup.create"
        )
      }).pipe(
        Effect.provide(Layer.unwrapEffect(Effect.map(freshPath, (path) => backupsAt(path, settings)))),
        Effect.scoped
      )
    )
  }
  refusesTo("a row that refers to nothing", "DELETE FROM projects")
  refusesTo("a wrong count of secrets", "UPDATE environments SET secret_count = 2 WHERE secret_count = 1")
  refusesTo("an audit log that ends before its head", "UPDATE audit_heads SET seq = seq + 1")
  refusesTo("an audit log without a head", "DELETE FROM audit_heads")
  refusesTo("a gap in an audit log", "DROP TRIGGER audit_entries_no_delete; DELETE FROM audit_entries WHERE seq = 1")
  refusesTo("no identity", "DELETE FROM instance")
  refusesTo(
    "a damaged index",
    `PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'members_by_user')
       WHERE name = 'projects_live'`
  )

  const settings = freshSettings()
  it.live("that a killed process left half-made goes at the next start", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const folder = dirname(path)
      for (const name of [".service.db.backup-0a1b", ".service.db.restore-0a1b", ".service.db.apply-0a1b-wal"]) {
        writeFileSync(join(folder, name), "left")
      }
      writeFileSync(join(folder, ".service.db2.backup-0a1b"), "another database's")
      yield* Effect.provide(createBackup, backupsAt(path, settings))
      assert.deepStrictEqual(strays(path), [".service.db2.backup-0a1b"])
    }).pipe(Effect.scoped)
  )
})

describe("a backup or a restore whose caller may not any more when it is done", () => {
  const settings = freshSettings()
  it.live("is undone and not recorded", () =>
    Effect.gen(function* () {
      yield* organization()
      assert.strictEqual(yield* outcome(createBackupBy(refusing)), "Forbidden")
      assert.deepStrictEqual(yield* objectsOf(settings), [])
      const { id } = yield* createBackup
      assert.strictEqual(yield* outcome(restoreBackupBy(id, refusing)), "Forbidden")
      assert.deepStrictEqual(yield* noStrays, [])
      const actions = (yield* entries("system")).map(({ action }) => action)
      assert.deepStrictEqual(
        actions.filter((action) => action.startsWith("backup.")),
        ["backup.create"]
      )
    }).pipe(withBackups(settings))
  )
})

const hour = 60 * 60 * 1000

describe("after a scheduled backup", () => {
  const settings = { ...freshSettings(), BACKUP_RETAIN_DAILY_DAYS: "2", BACKUP_RETAIN_WEEKLY_WEEKS: "0" }
  it.live("the retention deletes older ones of this instance, manual ones by their age, and nobody else's", () =>
    Effect.gen(function* () {
      const { id: today, instance } = yield* createBackup
      const [name = ""] = yield* objectsOf(settings)
      const now = Date.now()
      const named = (age: number, id: string, ofInstance = instance) =>
        name
          .replace(instance, ofInstance)
          .replace(/\d{8}T[\d.]+Z_/, `${new Date(now - age).toISOString().replace(/[-:]/g, "")}_`)
          .replace(/_[^_]*\.bak$/, `_0192f0c1-5b7e-7c3a-9d2e-00000000000${id}.bak`)
      const stranger = "0192f0c1-5b7e-4c3a-9d2e-000000000000"
      const [yesterday, older, foreign] = [
        named(24 * hour, "9"),
        named(72 * hour, "2"),
        named(72 * hour, "3", stranger)
      ]
      const superseded = named(24 * hour, "4").replace("_manual_", "_scheduled_")
      const sameDay = named(24 * hour, "5")
      yield* Effect.promise(() =>
        Promise.all([yesterday, older, foreign, superseded, sameDay].map((key) => writeObject(key, "old")))
      )
      const lines: Array<string> = []
      const listening = Logger.make(({ message }) => void lines.push(String(message)))
      const made = yield* scheduledBackup.pipe(Effect.provide(Logger.add(listening)))
      const left = yield* objectsOf(settings)
      assert.strictEqual(made.trigger, "scheduled")
      const kept = (id: string) => left.find((key) => key.includes(id)) ?? id
      assert.sameMembers([...left], [yesterday, sameDay, foreign, kept(made.id), kept(today)])
      assert.sameMembers(
        lines.filter((line) => line.startsWith("retention")),
        [
          `retention: backup ${superseded.replace(settings.BACKUP_S3_PREFIX, "")} is deleted: a newer backup of its day is kept`,
          `retention: backup ${older.replace(settings.BACKUP_S3_PREFIX, "")} is deleted: it is older than every day and week that the retention keeps`
        ]
      )
      assert.deepStrictEqual(
        (yield* entries("system"))
          .map(({ action, actor, actor_type, metadata }) => [action, actor, actor_type, metadata])
          .at(-1),
        [
          "backup.create",
          "backup schedule",
          "system",
          { id: made.id, size_bytes: made.size_bytes, trigger: "scheduled" }
        ]
      )
    }).pipe(withBackups(settings))
  )
})
