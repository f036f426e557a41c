import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { applyRestore } from "@coffer/server/operations/backups/Apply"
import { Backups } from "@coffer/server/operations/backups/Backups"
import { offlineDrill } from "@coffer/server/operations/backups/OfflineDrill"
import { removeLeftovers, temporaryFile } from "@coffer/server/database/sqlite/TemporaryFiles"
import { loadConfig, ServerConfig } from "@coffer/server/base/Config"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { createBackup, drillBackupBy, listBackups, recording, restoreBackup } from "../backups/Support.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import {
  configAt,
  freshPath,
  invariants,
  invariantsIn,
  masterKey,
  person,
  readSecret,
  servicesIn,
  setSecret
} from "../support/Services.js"
import { fill } from "./Filled.js"

const freshDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-directory-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const backupsIn = (name: string | null, path: string, directory: string) =>
  Backups.Default.pipe(Layer.provideMerge(servicesIn({ name, path }, { BACKUP_DIR: directory })))

const listening = Effect.map(Console.consoleWith(Effect.succeed), (console) => {
  const said: Array<string> = []
  const hear = (line: unknown) => Effect.sync(() => void said.push(String(line)))
  return { said, console: { ...console, log: hear, error: hear } }
})

const apply = (file: string, settings: Layer.Layer<ServerConfig, unknown>) =>
  Effect.gen(function* () {
    const { console, said } = yield* listening
    yield* applyRestore(file).pipe(Effect.provide(settings), Effect.withConsole(console))
    return said.join("\n")
  })

/** The settings of a server on a PostgreSQL database, with its working files in a folder. */
const onUrl = (url: string, path: string, more: Readonly<Record<string, string>> = {}) =>
  Layer.effect(
    ServerConfig,
    Effect.map(
      loadConfig({ SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", SERVICE_DATABASE_URL: url, ...more }),
      (settings) => ({ ...settings, dbPath: path })
    )
  )

const works = Effect.gen(function* () {
  const ada = yield* person("ada@example.com")
  assert.strictEqual((yield* readSecret(ada, "CHANGED")).value, "three")
  assert.strictEqual((yield* readSecret(ada, "REFERS")).value, "three!")
  yield* setSecret(ada, "AFTER", "it goes on")
})

const rows = (database: string, text: string) =>
  onServer(database, async (client) => (await client.query<Record<string, unknown>>(text)).rows)

describe("backups of PostgreSQL", () => {
  it.live("restore into an SQLite file and into an empty PostgreSQL database, and those of SQLite do too", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      const path = yield* freshPath
      const { name } = yield* freshDatabase()

      const { backup, file } = yield* Effect.gen(function* () {
        const ada = yield* fill
        const backup = yield* createBackup
        yield* setSecret(ada, "CHANGED", "four")
        assert.deepStrictEqual(yield* listBackups, [backup])
        const { counts, path: file } = yield* restoreBackup(backup.id)
        assert.deepInclude(counts, { organizations: 2, projects: 3 })
        const drilled = yield* drillBackupBy(undefined, recording)
        assert.deepStrictEqual([drilled.valid, drilled.problems], [true, []])
        return { backup, file }
      }).pipe(Effect.provide(backupsIn(name, path, directory)), Effect.scoped)
      assert.strictEqual(file, `${path}.restore.${backup.id}`)
      assert.deepStrictEqual(
        readdirSync(dirname(path)).filter((one) => one !== `service.db.restore.${backup.id}`),
        [],
        "no working file is left"
      )

      const onFile = yield* freshPath
      assert.include(yield* apply(file, configAt(onFile)), `${onFile} is now the database of ${file}`)
      yield* Effect.provide(Effect.scoped(works), servicesIn({ name: null, path: onFile }))
      yield* invariants(onFile)

      const again = yield* freshDatabase()
      const said = yield* apply(file, onUrl(again.url, path))
      assert.match(
        said,
        /is now the database of .*\n.*organizations: 2.*\n2 sessions and 1 pending login codes were ended/
      )
      assert.match(said, /these API keys are valid.*\n {2}acme: robot/)
      yield* Effect.provide(Effect.scoped(works), servicesIn({ name: again.name, path }))
      yield* invariantsIn({ name: again.name, path })
      assert.deepStrictEqual(yield* rows(again.name, "SELECT backup_id FROM restores WHERE applied_at IS NOT NULL"), [
        { backup_id: backup.id }
      ])

      const refusal = yield* Effect.flip(apply(file, onUrl(again.url, path)))
      assert.match(String(refusal), /is not empty/)

      const { file: fromFile } = yield* Effect.gen(function* () {
        const { id } = yield* createBackup
        return { file: (yield* restoreBackup(id)).path }
      }).pipe(Effect.provide(backupsIn(null, onFile, directory)), Effect.scoped)
      const third = yield* freshDatabase({ migrated: false })
      yield* apply(fromFile, onUrl(third.url, path))
      yield* Effect.provide(Effect.scoped(works), servicesIn({ name: third.name, path }))
      yield* invariantsIn({ name: third.name, path })
    }).pipe(Effect.scoped)
  )

  it.live("have the state of one moment, while others write", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      const path = yield* freshPath
      const { name } = yield* freshDatabase()
      const file = yield* Effect.gen(function* () {
        const ada = yield* fill
        let number = 0
        const writing = Effect.forever(Effect.suspend(() => setSecret(ada, `MORE_${number++}`, "more")))
        const backup = yield* Effect.raceFirst(createBackup, writing)
        assert.isAbove(number, 5)
        return (yield* restoreBackup(backup.id)).path
      }).pipe(Effect.provide(backupsIn(name, path, directory)), Effect.scoped)
      yield* invariants(file)
    }).pipe(Effect.scoped)
  )

  it.live("are drilled offline: the newest one of the database's instance", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      const path = yield* freshPath
      const { name, url } = yield* freshDatabase()
      const own = yield* Effect.zipRight(fill, createBackup).pipe(
        Effect.provide(backupsIn(name, path, directory)),
        Effect.scoped
      )
      yield* Effect.provide(Effect.scoped(createBackup), backupsIn(null, yield* freshPath, directory))
      const { console, said } = yield* listening
      yield* offlineDrill(undefined).pipe(
        Effect.provide(onUrl(url, path, { BACKUP_DIR: directory })),
        Effect.withConsole(console)
      )
      assert.match(said.join(), new RegExp(`backup ${own.id} is good`))
    }).pipe(Effect.scoped)
  )
})

describe("the working files of several servers in one folder", () => {
  it.live("stay while one of them uses them", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      const files = Effect.sync(() => readdirSync(dirname(path)))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* temporaryFile(path, "backup")
          const before = yield* files
          yield* removeLeftovers(path)
          assert.deepStrictEqual(yield* files, before)
          assert.isAbove(before.length, 0)
        })
      )
      assert.deepStrictEqual(yield* files, [])
    }).pipe(Effect.scoped)
  )
})
