/** A disk that fills while a release's database is upgraded, and while entries of the audit log move into an archive. */
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"
import { invariants } from "../support/Services.js"
import { databaseOf } from "../upgrades/Databases.js"
import { release, serverSettings, testMasterKey } from "../upgrades/Release.js"
import { moveToToday } from "../upgrades/Today.js"
import { smallDisk } from "./SmallDisk.js"

const { fill, folder, free, isMounted, unmount } = smallDisk(16)
const path = join(folder, "service.db")
const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

afterAll(() => {
  unmount()
  cleanUp()
})

const onFile = <A>(use: (database: Sqlite.Database) => A): A => {
  const database = new Sqlite(path, { readonly: true })
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const newestIn = (database: Sqlite.Database) =>
  database.prepare<[], number>("SELECT max(migration_id) FROM effect_sql_migrations").pluck().get()

/** All values, as they are stored. */
const storedValues = () =>
  onFile((database) => database.prepare("SELECT * FROM secret_versions ORDER BY secret_id, version").all())

/** The numbers of the entries of each log that the database has or an archive that counts. */
const entriesOf = () =>
  onFile((database) => {
    const entries = new Set(database.prepare<[], string>("SELECT log || ' ' || seq FROM audit_entries").pluck().all())
    const archived = database
      .prepare<
        [],
        { readonly log: string; readonly first_seq: number; readonly last_seq: number; readonly name: string }
      >("SELECT log, first_seq, last_seq, name FROM audit_archives")
      .all()
    for (const { first_seq, last_seq, log } of archived)
      for (let seq = first_seq; seq <= last_seq; seq++) entries.add(`${log} ${seq}`)
    return { entries: [...entries].sort(), archives: archived.map(({ name }) => name).sort() }
  })

describe.skipIf(!isMounted)("a disk that fills during an upgrade", () => {
  it("leaves the release's database as it was until there is room, and upgrades it then", async () => {
    const { content, database } = release("0.3.0", "sqlite")
    const fixture = await databaseOf("sqlite", database)
    await moveToToday(fixture, "sqlite")
    writeFileSync(path, await fixture.dump(), { mode: 0o600 })
    const before = onFile(newestIn)
    const secrets = storedValues()
    const settings = { ...serverSettings, SERVICE_DB_PATH: path }
    let refusals = 0
    let program: Program | undefined
    for (let spare = 0; program === undefined; spare += 400_000) {
      fill(spare)
      program = await Program.start(settings, folder).catch((error: unknown) => {
        refusals++
        assert.match(String(error), /the disk is full/)
        assert.notMatch(String(error), /^\s+at .*node_modules/m)
        return undefined
      })
      free()
      if (program !== undefined) break
      assert.strictEqual(onFile(newestIn), before, `${spare} bytes left: no migration is half done`)
      assert.deepStrictEqual(storedValues(), secrets)
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.startsWith(".")),
        [],
        "nothing half-made is left"
      )
    }
    assert.isAbove(refusals, 2)
    const ada = { headers: content.testCredentials["ada"] ?? {} }
    for (const { path: at, value } of content.values)
      assert.strictEqual((await program.call("GET", at, ada)).body.value, value, at)
    await program.stop()
    await Effect.runPromise(invariants(path, testMasterKey))
  })

  it("loses no entry to an archive that did not fit: each is in the database or in an archive that counts", async () => {
    const backups = join(folder, "backups")
    mkdirSync(backups, { mode: 0o700 })
    const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
    const audit = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, [bin, "audit", ...args], {
        cwd: folder,
        env: {
          PATH: process.env["PATH"],
          HOME: folder,
          SMTP_HOST: "log",
          BACKUP_DIR: backups,
          SERVICE_DB_PATH: path,
          ...serverSettings
        },
        encoding: "utf8"
      })
    const all = entriesOf().entries
    let failures = 0
    for (let spare = 0; ; spare += 24_000) {
      fill(spare)
      const { status, stderr } = audit("archive", "--before", tomorrow)
      free()
      const { archives, entries } = entriesOf()
      assert.includeMembers(entries, all, `${spare} bytes left`)
      assert.includeMembers(readdirSync(backups, { recursive: true, encoding: "utf8" }), archives)
      if (status === 0) break
      failures++
      assert.match(stderr, /^coffer-server: [^\n]*disk is full[^\n]*\n$/)
    }
    assert.isAbove(failures, 1)
    rmSync(join(folder, "filler"), { force: true })
    const verified = audit("verify")
    assert.strictEqual(verified.status, 0, verified.stderr)
    assert.isAbove(entriesOf().archives.length, 0)
    await Effect.runPromise(invariants(path, testMasterKey))
  })
})
