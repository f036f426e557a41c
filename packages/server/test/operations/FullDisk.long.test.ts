import { spawnSync } from "node:child_process"
import { copyFileSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { FaultyStore } from "../backups/FaultyStore.js"
import { assertRefused, cleanUp, freshFolder, masterKey, Program } from "../support/Program.js"
import { invariants } from "../support/Services.js"
import { smallDisk } from "./SmallDisk.js"

const mebibyte = 1024 * 1024
const { fill, folder, free, isMounted, unmount } = smallDisk(6)

const superadmin = { SUPERADMIN_EMAIL_0: "root@example.com" }
const secrets = "/api/orgs/acme/projects/webshop/envs/prod/secrets"
const hidden = () => readdirSync(folder).filter((name) => name.startsWith("."))

let store: FaultyStore

beforeAll(async () => {
  store = await FaultyStore.start()
})

afterAll(async () => {
  await store.close()
  unmount()
  cleanUp()
})

describe.skipIf(!isMounted)("a disk that fills", () => {
  it("stops writes with an error, not reads; loses nothing, and all goes on when there is room again", async () => {
    const program = await Program.start({ ...superadmin, ...store.settings }, folder)
    const token = await program.login("root@example.com")
    const call = (method: string, path: string, body?: object) => program.call(method, path, { token, body })
    for (const [path, name] of [
      ["/api/orgs", "acme"],
      ["/api/orgs/acme/projects", "webshop"]
    ] as const) {
      assert.strictEqual((await call("POST", path, { name })).status, 201)
    }
    const kept = new Map<string, string>()
    const put = async (key: string, size: number) => {
      const value = key.padEnd(size, ".")
      const answer = await call("PUT", `${secrets}/${key}`, { value })
      if (answer.status === 200 || answer.status === 201) kept.set(key, value)
      return answer
    }
    let reads = 0
    const assertKept = async () => {
      for (const [key, value] of kept) {
        reads++
        const answer = await call("GET", `${secrets}/${key}`)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.strictEqual(answer.body.value, value)
      }
    }

    assert.strictEqual((await put("FIRST", 10)).status, 200)
    const { body: backup } = await call("POST", "/api/backups")

    for (const spare of [64 * 1024, 16 * 1024, 0]) {
      fill(spare)
      let answer = await put(`S${spare}_0`, 30_000)
      for (let n = 1; answer.status === 200; n++) answer = await put(`S${spare}_${n}`, 30_000)
      assertRefused(answer, 507, "STORAGE_FULL", /its operator has to free space/)
      assert.strictEqual(answer.headers.get("retry-after"), "5")
      await assertKept()
      for (const path of ["/health", "/health/ready", "/api/auth/me", secrets]) {
        assert.strictEqual((await call("GET", path)).status, 200, path)
      }
      for (const path of ["/api/backups", `/api/backups/${backup.id}/restore`]) {
        assertRefused(await call("POST", path), 502, "BACKUP_FAILED", /the disk with the server's database is full/)
      }
      assert.deepStrictEqual(hidden(), [], "nothing half-made is left")
    }
    assert.match(program.log, /the disk with the database is full/)
    assert.match(program.log, /the backup failed: the disk is full/)
    assert.notInclude(program.log, "[object Object]")
    assert.notMatch(program.log, /^\s+at /m)

    free()
    assert.strictEqual((await put("AFTER", 30_000)).status, 200)
    await assertKept()
    assert.strictEqual((await call("POST", "/api/backups")).status, 201)
    assert.strictEqual((await call("POST", `/api/backups/${backup.id}/restore`)).status, 200)
    for (const path of ["/api/audit-logs/verify", "/api/orgs/acme/audit-logs/verify"]) {
      assert.isTrue((await call("GET", path)).body.valid)
    }
    // The entries of the reads on the full disk come later.
    const recorded = async () =>
      (await call("GET", "/api/orgs/acme/audit-logs?action=secret.read&limit=1")).body.pagination.total
    for (let tries = 0; tries < 50 && (await recorded()) < reads; tries++) await setTimeout(100)
    assert.strictEqual(await recorded(), reads)

    fill(0)
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
    free()
    await Effect.runPromise(invariants(program.file(), masterKey))

    const again = await Program.start(superadmin, folder)
    for (const [key, value] of kept) {
      assert.strictEqual((await again.call("GET", `${secrets}/${key}`, { token })).body.value, value)
    }
    await again.stop()
  })

  it("refuses a start in a sentence, and harms nothing", async () => {
    const copy = join(freshFolder(), "service.db")
    const database = join(folder, "service.db")
    copyFileSync(database, copy)
    for (const [spare, path] of [
      [20_000, "fresh.db"],
      [150_000, "fresh.db"],
      [0, "service.db"]
    ] as const) {
      fill(spare)
      const { code, log } = await Program.refused({ SERVICE_DB_PATH: path }, folder)
      assert.strictEqual(code, 1, `${path}, ${spare} bytes left: ${log}`)
      assert.match(log, /^coffer-server: [^\n]*the disk is full[^\n]*\n$/)
    }
    free()
    await Effect.runPromise(invariants(database, masterKey))
    const program = await Program.start({ SERVICE_DB_PATH: "fresh.db" }, folder)
    assert.strictEqual((await program.call("GET", "/health/ready")).status, 200)
    await program.stop()
    assert.isBelow(statSync(database).size, 6 * mebibyte)
  })

  it("stops offline commands with a sentence: a rotation and a restore are done whole or not at all", async () => {
    const database = join(folder, "service.db")
    const offline = (bin: string, ...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, [fileURLToPath(new URL(bin, import.meta.url)), ...args], {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: folder, SERVICE_MASTER_KEY: masterKey },
        encoding: "utf8"
      })
    copyFileSync(database, join(folder, "restored.db"))
    fill(100_000)
    const applied = offline("../../bin/coffer-server.js", "restore", "--apply", "restored.db")
    assert.strictEqual(applied.status, 1)
    assert.match(applied.stderr, /^coffer-server: .*(no space left|the disk is full).*nothing was changed\n$/i)
    rmSync(join(folder, "restored.db"))
    assert.deepStrictEqual(hidden(), [])
    await Effect.runPromise(invariants(database, masterKey))

    fill(0)
    const session = offline("../../bin/coffer-server.js", "session", "ada@example.com")
    assert.deepStrictEqual([session.status, session.stdout], [1, ""])
    assert.match(session.stderr, /^coffer-server: [^\n]*the disk is full[^\n]*\n$/)
    free()
    await Effect.runPromise(invariants(database, masterKey))

    const rotate = () => offline("../../../cli/bin/coffer.js", "master-key", "rotate", "--db", database, "--generate")
    let failures = 0
    for (let spare = 0; ; spare += 12_000) {
      fill(spare)
      const { status, stderr, stdout } = rotate()
      free()
      if (status === 0) {
        await Effect.runPromise(invariants(database, stdout.trim()))
        break
      }
      failures++
      assert.match(stderr, /^coffer: [^\n]*the disk is full[^\n]*\n$/)
      await Effect.runPromise(invariants(database, masterKey))
    }
    assert.isAbove(failures, 1)
  })
})
