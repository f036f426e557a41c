import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Backups } from "@coffer/server/operations/backups/Backups"
import { Instance } from "@coffer/server/keys/Instance"
import { isLeaseLost, LeaseLost } from "@coffer/server/database/jobs/Lease"
import { decryptionFailures } from "@coffer/server/keys/Keyring"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Metric } from "effect"
import { logged } from "../support/Logged.js"
import { DbPath, entries, freshPath, invariants, organization, outcome, raw, setSecret } from "../support/Services.js"
import {
  createBackup,
  listBackups,
  noStrays,
  restoreBackup,
  backupsAt,
  scheduledBackup,
  withBackups
} from "./Support.js"

const freshDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-directory-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Runs a test with backups in a directory of its own. */
const inDirectory =
  (settings: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(test: (directory: string) => Effect.Effect<A, E, R>) =>
    Effect.scoped(
      Effect.flatMap(freshDirectory, (directory) =>
        withBackups({ ...settings, BACKUP_DIR: directory })(test(directory))
      )
    )

/** The files below a directory, hidden ones too, by their paths in it. */
const filesBelow = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))

const modeOf = (path: string) => statSync(path).mode & 0o777

describe("backups in a directory", () => {
  it.live("are files named as the objects in S3 are, for the server's user alone, and are restored", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "KEY", "as it was")
        const backup = yield* createBackup
        const name = `${backup.instance}/${backup.created_at.replace(/[-:]/g, "")}_manual_${backup.key_fingerprint}_${backup.id}.bak`
        assert.deepStrictEqual(filesBelow(directory), [name])
        const path = join(directory, name)
        assert.deepStrictEqual([modeOf(path), modeOf(dirname(path))], [0o600, 0o700])
        assert.strictEqual(statSync(path).size, backup.size_bytes)
        assert.strictEqual(readFileSync(path).subarray(0, 5).toString("latin1"), "CFRB\x01")
        assert.deepStrictEqual(yield* listBackups, [backup])
        yield* invariants((yield* restoreBackup(backup.id)).path)

        const bytes = readFileSync(path)
        bytes[5000] = (bytes[5000] ?? 0) ^ 1
        writeFileSync(path, bytes)
        assert.strictEqual(yield* outcome(restoreBackup(backup.id)), "DecryptionFailed")
        rmSync(path)
        assert.strictEqual(yield* outcome(restoreBackup(backup.id)), "NotFound")
      })
    )
  )

  it.live("that were edited are recorded, logged as an error and counted when they are restored", () => {
    const { layer, lines } = logged()
    return inDirectory()((directory) =>
      Effect.gen(function* () {
        const { id } = yield* createBackup
        const path = join(directory, filesBelow(directory)[0]!)
        const bytes = readFileSync(path)
        bytes[5000] = (bytes[5000] ?? 0) ^ 1
        writeFileSync(path, bytes)
        const failures = Effect.map(Metric.value(decryptionFailures), ({ count }) => count)
        const before = yield* failures
        assert.strictEqual(yield* outcome(restoreBackup(id)), "DecryptionFailed")
        assert.strictEqual((yield* failures) - before, 1)
        assert.deepInclude((yield* entries("system")).at(-1), {
          action: "secret.decryption_failed",
          actor: "root@example.com",
          resource: ["backup", id],
          metadata: { via: "superadmin" }
        })
        assert.deepStrictEqual(
          lines.filter((line) => line.startsWith("ERROR")),
          [`ERROR backup ${id} does not decrypt: the object in the store was changed`]
        )
      })
    ).pipe(Effect.provide(layer))
  })

  it.live("are many megabytes as well", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const database = yield* raw
        database.exec("CREATE TABLE filler (bytes BLOB) STRICT; INSERT INTO filler VALUES (randomblob(9000000))")
        const backup = yield* createBackup
        assert.isAbove(backup.size_bytes, 9_000_000)
        const { path } = yield* restoreBackup(backup.id)
        assert.isAbove(statSync(path).size, 9_000_000)
        assert.strictEqual(filesBelow(directory).length, 1)
      })
    )
  )

  it.live("of every instance are listed; other files, links and the lost+found of a disk are not", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const path = yield* freshPath
        const other = yield* Effect.provide(createBackup, backupsAt(path, { BACKUP_DIR: directory }))
        const own = yield* createBackup
        const name = filesBelow(directory).find((file) => file.includes(own.id)) ?? ""
        mkdirSync(join(directory, "lost+found"), { mode: 0 })
        writeFileSync(join(directory, "readme.txt"), "not a backup")
        symlinkSync(
          join(directory, name),
          join(directory, name.replace(own.id, "0192f0c1-5b7e-7c3a-9d2e-000000000001"))
        )
        assert.deepStrictEqual(yield* listBackups, [own, other])
        chmodSync(join(directory, "lost+found"), 0o700)
      })
    )
  )

  const shortly = inDirectory({ BACKUP_RETAIN_DAILY_DAYS: "1", BACKUP_RETAIN_WEEKLY_WEEKS: "0" })
  it.live("are deleted by the same retention after a scheduled one", () =>
    shortly((directory) =>
      Effect.gen(function* () {
        const first = yield* scheduledBackup
        const second = yield* scheduledBackup
        assert.deepStrictEqual(yield* listBackups, [second])
        assert.isFalse(filesBelow(directory).some((file) => file.includes(first.id)))
      })
    )
  )

  it.live("are not left by a server whose lease of the job passed meanwhile", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const { scheduled } = yield* Backups
        const kept = yield* scheduledBackup
        const exit = yield* Effect.exit(scheduled(() => Effect.die(new LeaseLost({ job: "backup" }))))
        assert.isTrue(Exit.isFailure(exit) && isLeaseLost(exit.cause))
        assert.deepStrictEqual(yield* listBackups, [kept])
        assert.lengthOf(filesBelow(directory), 1)
      })
    )
  )

  it.live("follow no link in place of the instance's directory", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const { id } = yield* Instance
        const elsewhere = yield* freshDirectory
        symlinkSync(elsewhere, join(directory, id))
        const error = yield* Effect.flip(createBackup)
        assert.strictEqual(error._tag, "BackupFailed")
        assert.deepStrictEqual(readdirSync(elsewhere), [])
        assert.deepStrictEqual(yield* listBackups, [])
      })
    )
  )

  it.live("that a killed server left half-written go with the next backup", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        const { id } = yield* Instance
        mkdirSync(join(directory, id), { mode: 0o700 })
        writeFileSync(join(directory, id, ".half.bak.part"), "half")
        assert.deepStrictEqual(yield* listBackups, [])
        const backup = yield* createBackup
        assert.deepStrictEqual(
          filesBelow(directory).map((file) => file.includes(backup.id)),
          [true]
        )
      })
    )
  )

  it.live("leave nothing when the directory goes away, and go on when it is back", () =>
    inDirectory()((directory) =>
      Effect.gen(function* () {
        renameSync(directory, `${directory}.away`)
        const error = yield* Effect.flip(createBackup)
        assert.strictEqual(error.message, "the backup failed: the backup directory did not take the backup: ENOENT")
        assert.strictEqual(yield* outcome(listBackups), "BackupFailed")
        renameSync(`${directory}.away`, directory)
        assert.deepStrictEqual(yield* noStrays, [])
        const backup = yield* createBackup
        assert.deepStrictEqual(yield* listBackups, [backup])
        assert.strictEqual((yield* entries("system")).filter(({ action }) => action === "backup.create").length, 1)
      })
    )
  )

  const disk = mkdtempSync(join(tmpdir(), "coffer-disk-"))
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", disk]).status === 0
  it.live.runIf(isMounted)("say that the disk is full, leave nothing on it, and go on when there is room", () =>
    Effect.gen(function* () {
      const filler = join(disk, "filler")
      writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024 - 65_536))
      const error = yield* Effect.flip(createBackup)
      assert.strictEqual(
        error.message,
        "the backup failed: the backup directory did not take the backup: its disk is full (ENOSPC)"
      )
      assert.deepStrictEqual(filesBelow(disk), ["filler"])
      rmSync(filler)
      const backup = yield* createBackup
      assert.deepStrictEqual(yield* listBackups, [backup])
    }).pipe(
      withBackups({ BACKUP_DIR: disk }),
      Effect.ensuring(Effect.sync(() => spawnSync("umount", ["--lazy", disk])))
    )
  )
})

describe("a directory that cannot hold backups", () => {
  const refused = (directory: string, sentence: RegExp) =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const error = yield* Effect.flip(Effect.provide(DbPath, backupsAt(path, { BACKUP_DIR: directory })))
      assert.strictEqual(error._tag, "StartupError")
      assert.match(error.message, /^BACKUP_DIR: /)
      assert.match(error.message, sentence)
    }).pipe(Effect.scoped)

  it.live("is named at the start", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      const inside = (name: string) => join(directory, name)
      yield* refused(inside("absent"), /does not exist: create it with install -d -m 700 -o USER /)
      assert.isFalse(existsSync(inside("absent")))
      writeFileSync(inside("file"), "")
      linkSync(inside("file"), inside("hard"))
      yield* refused(inside("hard"), /is not a directory/)
      if (process.getuid?.() === 0) {
        mkdirSync(inside("open"))
        chmodSync(inside("open"), 0o770)
        chownSync(inside("open"), 54_321, 54_321)
        yield* refused(inside("open"), /can be written by others \(mode 770\): run chmod 700 /)
      }
      symlinkSync(directory, inside("link"))
      yield* refused(inside("link"), /is a symbolic link/)
    }).pipe(Effect.scoped)
  )

  it.live("is taken from others when it is the server's own: a volume with fsGroup gives it to the group", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      chmodSync(directory, 0o770)
      yield* Effect.provide(DbPath, backupsAt(yield* freshPath, { BACKUP_DIR: directory }))
      assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
    }).pipe(Effect.scoped)
  )

  const readOnly = mkdtempSync(join(tmpdir(), "coffer-disk-"))
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", readOnly]).status === 0
  it.live.runIf(isMounted)("is named when it is read-only", () =>
    Effect.ensuring(
      refused(readOnly, /is on a read-only file system/),
      Effect.sync(() => spawnSync("umount", ["--lazy", readOnly]))
    )
  )
})
