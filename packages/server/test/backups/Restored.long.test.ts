import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { applyRestore } from "@coffer/server/operations/backups/Apply"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { configAt, freshPath, organization, rawAt, setSecret } from "../support/Services.js"
import { backupsAt, createBackup, listBackups, restoreBackup, scheduledBackup } from "./Support.js"

const freshDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-directory-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** Renames the backups of a directory to what the schedule would have called them, but for one. */
const callScheduled = (directory: string, except: string) => {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!name.includes(except))
      renameSync(join(directory, name), join(directory, name.replace("_manual_", "_scheduled_")))
  }
}

const silent = Effect.map(Console.consoleWith(Effect.succeed), (console) => ({
  ...console,
  log: () => Effect.void,
  error: () => Effect.void
}))

describe("the retention after a restore", () => {
  const spares = (way: string, swap: (file: string, path: string) => Effect.Effect<void, unknown>) => {
    it.live(`spares what is newer than the backup that was restored ${way}`, () =>
      Effect.gen(function* () {
        const directory = yield* freshDirectory
        const path = yield* freshPath
        const services = backupsAt(path, {
          BACKUP_DIR: directory,
          BACKUP_RETAIN_DAILY_DAYS: "1",
          BACKUP_RETAIN_WEEKLY_WEEKS: "0"
        })
        const { file, old } = yield* Effect.gen(function* () {
          const ada = yield* organization()
          const old = yield* createBackup
          yield* setSecret(ada, "KEY", "newer data")
          yield* createBackup
          yield* createBackup
          const { path: file } = yield* restoreBackup(old.id)
          return { file, old }
        }).pipe(Effect.provide(services))
        callScheduled(directory, old.id)
        yield* swap(file, path)
        yield* Effect.gen(function* () {
          const before = yield* listBackups
          assert.strictEqual(before.length, 3)
          const made = yield* scheduledBackup
          assert.deepStrictEqual(yield* listBackups, [made, ...before])
        }).pipe(Effect.provide(services))
        const database = yield* rawAt(path, { readonly: true })
        assert.deepStrictEqual(
          database.prepare("SELECT backup_id, backup_created_at, applied_at IS NULL AS open FROM restores").all(),
          [{ backup_id: old.id, backup_created_at: old.created_at, open: 0 }]
        )
      }).pipe(Effect.scoped)
    )
  }

  spares("by restore --apply", (file, path) =>
    Effect.flatMap(silent, (console) =>
      applyRestore(file).pipe(Effect.provide(configAt(path)), Effect.withConsole(console))
    )
  )
  spares("by hand", (file, path) =>
    Effect.sync(() => {
      for (const suffix of ["-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true })
      renameSync(file, path)
    })
  )
})
