/**
 * Holds the promise of docs/operations/upgrade.md: a database of every release can be upgraded to this one. `../fixtures` has databases
 * that the servers of the releases filled, and what those servers said of them.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { newestMigration } from "@coffer/server/database/sqlite/Migrations"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cleanUp, type Json, Program, type Variables } from "../support/Program.js"
import { isOnPostgres } from "../support/Services.js"
import { databaseOf, type TestDatabase } from "./Databases.js"
import { statusOf } from "./Describe.js"
import { empty, emptyOnPostgres } from "./Empty.js"
import {
  acme,
  type Ask,
  asking,
  type Content,
  each,
  isSince,
  release,
  releases,
  secretsOf,
  serverSettings
} from "./Release.js"
import { columnsOf, emptyIn, keptRows, missing, textsOf } from "./Rows.js"
import { moveToToday } from "./Today.js"

const engine = isOnPostgres() ? "postgres" : "sqlite"
/** A built checkout of the release to record. */
const recorded = process.env["COFFER_RECORD_FROM"]
const fileOf = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

afterAll(cleanUp)

/** Runs one of the programs to its end. */
const run = (program: string, folder: string, args: ReadonlyArray<string>, env: Variables) =>
  spawnSync(process.execPath, [fileOf(program), ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, SMTP_HOST: "log", ...env }
  })

const server = "packages/server/bin/coffer-server.js"

/** Returns the findings of a check of the database. */
const checked = ({ folder, settings }: TestDatabase): Json => {
  const { stdout } = run(server, folder, ["check", "--json"], { ...serverSettings, ...settings })
  return JSON.parse(stdout)
}

/** Sees that each value reads as it did. */
const readAll = async (program: Program, { testCredentials, values }: Content) => {
  const ask = asking(program, testCredentials["ada"] ?? {})
  await each(values, async ({ path, value }) => {
    assert.strictEqual((await ask("GET", path)).value, value, path)
  })
}

describe.skipIf(recorded !== undefined).each(releases(engine))("a database of %s", (version) => {
  const { content, database: bytes } = release(version, engine)
  const { testCredentials, testMasterKey } = content
  let database: TestDatabase
  let program: Program

  beforeAll(async () => {
    database = await databaseOf(engine, bytes)
    await moveToToday(database, engine)
  })
  afterAll(async () => {
    await database.drop()
  })

  it("keeps each row, and each column of it, through the migrations", async () => {
    const copy = await databaseOf(engine, bytes)
    const columns = await columnsOf(copy, engine)
    const before = await keptRows(copy, columns)
    for (const [table, rows] of before) assert.strictEqual(rows.length, content.rows[table], table)
    await copy.migrate()
    const today = await columnsOf(copy, engine)
    const after = await keptRows(copy, today)
    const changed = [...before].filter(([table, rows]) => {
      const shared = (columns[table] ?? []).filter((name) => today[table]?.includes(name))
      return !isDeepStrictEqual(textsOf(after.get(table) ?? [], shared), textsOf(rows, shared))
    })
    assert.deepStrictEqual(Object.fromEntries(changed.map(([table]) => [table, after.get(table)])), {})
    await copy.drop()
  })

  it.runIf(isSince(version, "0.3.0"))("has rows in every table, except in those that have a reason", async () => {
    const copy = await databaseOf(engine, bytes)
    const found = await emptyIn(copy, await columnsOf(copy, engine))
    const reasons = engine === "postgres" ? { ...empty, ...emptyOnPostgres } : empty
    assert.deepStrictEqual(
      found.filter((name) => !(name in reasons)),
      []
    )
    await copy.drop()
  })

  it("passes the check before and after, and is copied as it was before it changes", async () => {
    const before = checked(database)
    assert.isTrue(before.ok, JSON.stringify(before.checks))
    const rows = await keptRows(database, await columnsOf(database, engine))
    program = await Program.start({ ...serverSettings, ...database.settings }, database.folder)
    const after = checked(database)
    assert.isTrue(after.ok, JSON.stringify(after.checks))
    if (engine === "postgres") return
    const copies = readdirSync(database.folder).filter((name) => /\.before-\d{4}$/.test(name))
    assert.lengthOf(copies, content.rows["effect_sql_migrations"] === newestMigration ? 0 : 1)
    for (const copy of copies) {
      // The way back: `restore --apply` of the release's own program takes this file.
      const kept = await databaseOf(engine, readFileSync(join(database.folder, copy)))
      assert.deepStrictEqual(await keptRows(kept, await columnsOf(kept, engine)), rows)
    }
  })

  it("is served: each value, to those who may, and no one else", async () => {
    await readAll(program, content)
    for (const [call, statuses] of Object.entries(content.rights)) {
      const [method = "", path = ""] = call.split(" ")
      const callers = Object.entries(statuses).flatMap(([status, names]) =>
        names.split(" ").map((caller) => ({ caller, status: Number(status) }))
      )
      await each(callers, async ({ caller, status }) => {
        assert.strictEqual(
          await statusOf(program, testCredentials[caller] ?? {}, method, path),
          status,
          `${caller}: ${call}`
        )
      })
    }
    const ada = testCredentials["ada"] ?? {}
    for (const path of content.destroyed)
      assert.strictEqual((await program.call("GET", path, { headers: ada })).status, 404, path)
  })

  it("shows of people, places and records all that it did", async () => {
    const view = (caller: string, path: string) => asking(program, testCredentials[caller] ?? {})("GET", path)
    const differences: Array<string> = []
    for (const { body, caller, path } of content.views)
      differences.push(...missing(body, await view(caller, path), path))
    assert.deepStrictEqual(differences, [])
  })

  it("gives each caller the values that their rights reach", async () => {
    for (const [call, { 200: readers = "" }] of Object.entries(content.rights)) {
      const path = call.replace(/^GET /, "")
      if (!path.endsWith("/bundle")) continue
      const [{ body = {} } = {}]: Json = content.views.filter((view) => view.path === path)
      for (const caller of readers.split(" ")) {
        const { data } = await asking(program, testCredentials[caller] ?? {})("GET", path)
        // A reference leads to another environment, which not every caller may read.
        const reached = body.data.filter(({ key }: Json) => key !== "LINK" || data.some((one: Json) => one.key === key))
        assert.deepStrictEqual(missing(reached, data, `${caller}: ${call}`), [])
      }
    }
  })

  it("has audit logs that go on where they were", async () => {
    const root = asking(program, testCredentials["root"] ?? {})
    for (const { chain, path, seq } of content.logs) {
      assert.isTrue((await root("GET", path)).valid, path)
      assert.isTrue((await root("GET", `${path}?seq=${seq}&chain=${chain}`)).valid, path)
    }
    for (const [action, n] of Object.entries(content.actions)) {
      const { pagination } = await root("GET", `/api/audit-logs?action=${action}&limit=1`)
      assert.isAtLeast(pagination.total, n, action)
    }
  })

  it.runIf(isSince(version, "0.2.0"))(
    "takes the votes that requests wait for, and does what they ask for",
    async () => {
      const as = (caller: string) => asking(program, testCredentials[caller] ?? {})
      const [grace, ada] = [as("grace"), as("ada")]
      const waiting = (await ada("GET", `${acme}/approvals`)).data.filter(({ state }: Json) => state === "pending")
      assert.lengthOf(waiting, 1)
      for (const { id } of waiting) {
        assert.strictEqual((await grace("POST", `${acme}/approvals/${id}/approve`)).state, "approved")
      }
      if (!isSince(version, "0.3.0")) return

      const { data }: Json = await ada("GET", `${acme}/requests?state=pending&limit=100`)
      const voted: Array<string> = []
      for (const { env, id, reason, votes } of data) {
        let state = "pending"
        for (const voter of ["grace", "ada"]) {
          if (state !== "pending" || votes.some(({ by }: Json) => by === `${voter}@example.com`)) continue
          state = (await as(voter)("POST", `${acme}/requests/${id}/approve`)).state
        }
        voted.push(`${env}: ${reason}: ${state}`)
      }
      assert.deepStrictEqual(voted.sort(), [
        "prod: it waits: done",
        "staging: it has one vote: done",
        "staging: to wait: done"
      ])
      const valueFor = async (ask: Ask, env: string) =>
        (await ask("GET", `${secretsOf(env, `${acme}/projects/guarded`)}/A`)).value
      assert.strictEqual(await valueFor(ada, "prod"), "pending")
      assert.strictEqual(await valueFor(as("bob"), "staging"), "one vote")
    }
  )

  it("takes writes, a removed secret back, a backup and its restore, and a new master key", async () => {
    const ada = asking(program, testCredentials["ada"] ?? {})
    const written = "/api/orgs/acme/projects/webshop/envs/prod/secrets/WRITTEN"
    await ada("PUT", written, { value: "by today's server" })
    for (const { path, value } of content.removed) {
      await ada("POST", `${path}/undelete`)
      assert.strictEqual((await ada("GET", path)).value, value)
    }
    const root = asking(program, testCredentials["root"] ?? {})
    const { id } = await root("POST", "/api/backups")
    const { path } = await root("POST", `/api/backups/${id}/restore`)
    await program.stop()

    const target = engine === "sqlite" ? database : await databaseOf(engine, null)
    const env = { SERVICE_MASTER_KEY: testMasterKey, ...target.settings }
    const applied = run(server, database.folder, ["restore", "--apply", path], env)
    assert.strictEqual(applied.status, 0, applied.stderr)
    const place = engine === "sqlite" ? "service.db" : "env:SERVICE_DATABASE_URL"
    const rotated = run(
      "packages/cli/bin/coffer.js",
      database.folder,
      ["master-key", "rotate", "--db", place, "--generate", "--out", "new.key"],
      env
    )
    assert.strictEqual(rotated.status, 0, rotated.stderr)
    const key = readFileSync(join(database.folder, "new.key"), "utf8").trim()

    const again = await Program.start(
      { ...serverSettings, ...target.settings, SERVICE_MASTER_KEY: key },
      database.folder
    )
    assert.strictEqual((await again.call("GET", "/api/auth/me", { headers: testCredentials["ada"] ?? {} })).status, 401)
    const session = { authorization: `Bearer ${await again.login("ada@example.com")}` }
    await readAll(again, { ...content, testCredentials: { ada: session } })
    assert.strictEqual((await asking(again, session)("GET", written)).value, "by today's server")
    const { status } = await again.call("GET", written, { headers: testCredentials["reader"] ?? {} })
    assert.strictEqual(status, 200)
    await again.stop()
    await target.invariants(key)
    if (target !== database) await target.drop()
  })
})

it.skipIf(recorded !== undefined)("there is a database of each release, on each engine that it had", () => {
  const sections = [...readFileSync(fileOf("CHANGELOG.md"), "utf8").matchAll(/^## (\S+)/gm)]
  // The first section is of changes without a release, or of a release that is being made: it has no database yet.
  const earlier = ["0.1.0", ...sections.slice(1).map(([, version = ""]) => version)]
  const wanted = earlier.filter((version) => engine === "sqlite" || isSince(version, "0.2.0"))
  assert.includeMembers([...releases(engine)], wanted, "CONTRIBUTING.md says how to record one: Record a release")
})

it.runIf(recorded !== undefined)("records the database of a release", async () => {
  const main = join(recorded ?? "", server)
  assert.isTrue(existsSync(main), main)
  const { stdout } = spawnSync(process.execPath, [main, "--version"], { encoding: "utf8" })
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  // Loaded late: it has a provider of single sign-on.
  const { record } = await import("./Record.js")
  await record(main, stdout.trim(), engine)
})
