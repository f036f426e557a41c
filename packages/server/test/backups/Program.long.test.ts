import { execFile } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { assertRefused, cleanUp, freshFolder, masterKey, Program } from "../support/Program.js"
import { freshSettings, keysBelow, readObject, writeObject } from "./Endpoint.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

afterAll(() => {
  cleanUp()
})

interface Said {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs an offline command in a server's folder. */
const command = (folder: string, args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) =>
  new Promise<Said>((resolve) => {
    const env = { PATH: process.env["PATH"], SERVICE_MASTER_KEY: masterKey, ...settings }
    const child = execFile(process.execPath, [bin, ...args], { cwd: folder, env }, (_error, out, err) => {
      resolve({ code: child.exitCode, out, err })
    })
  })

const superadmin = { SUPERADMIN_EMAIL_0: "root@example.com" }
const secret = "/api/orgs/acme/projects/webshop/envs/prod/secrets/KEY"

/** A server with a secret and a machine that may read it. */
const inUse = async (settings: Readonly<Record<string, string>>) => {
  const program = await Program.start({ ...superadmin, ...settings })
  const token = await program.login("root@example.com")
  const call = async (method: string, path: string, body?: object) => {
    const answer = await program.call(method, path, { token, body })
    assert.isBelow(answer.status, 300, answer.text)
    return answer.body
  }
  await call("POST", "/api/orgs", { name: "acme" })
  await call("POST", "/api/orgs/acme/projects", { name: "webshop" })
  await call("PUT", secret, { value: "kept" })
  const { api_key, id } = await call("POST", "/api/orgs/acme/service-accounts", { name: "ci" })
  await call("POST", "/api/orgs/acme/acl", {
    subject_type: "service_account",
    subject_id: id,
    project_pattern: "*",
    env_pattern: "*",
    permission: "read"
  })
  return { program, token, call, account: id, key: api_key }
}

describe("backups of a real server", () => {
  const used = inUse(freshSettings())

  it("are undone for whoever was logged out while they were made", async () => {
    const { call, program } = await inUse(freshSettings())
    const token = await program.login("root@example.com")
    // One is made at a time: the last one ends long after the session.
    const wanted = Promise.all(Array.from({ length: 4 }, () => program.call("POST", "/api/backups", { token })))
    while (!readdirSync(program.folder).some((name) => name.includes("backup"))) await sleep(1)
    assert.strictEqual((await program.call("DELETE", "/api/auth/logout", { token })).status, 204)
    const made: Array<string> = []
    for (const answer of await wanted) {
      if (answer.status === 201) made.push(answer.body.id)
      else assertRefused(answer, 401, "UNAUTHORIZED")
    }
    assert.isBelow(made.length, 4)
    const kept = (await call("GET", "/api/backups")).data
    assert.sameMembers(
      kept.map(({ id }: { id: string }) => id),
      made
    )
    const recorded = (await call("GET", "/api/audit-logs?action=backup.create")).pagination.total
    assert.strictEqual(recorded, made.length)
    await program.remove()
  })

  it("bring the secrets back on a fresh machine, from the object and the master key alone", async () => {
    const settings = freshSettings()
    const first = await inUse(settings)
    const headNow = async (): Promise<{ seq: number; chain: string }> =>
      (await first.call("GET", "/api/audit-logs/verify")).head
    const earlier = await headNow()
    const created = await first.program.call("POST", "/api/backups", { token: first.token })
    assert.strictEqual(created.status, 201, created.text)
    const backup = created.body
    const later = await headNow()
    assert.deepStrictEqual(Object.keys(backup).sort(), [
      ..."created_at,id,instance,key_fingerprint,size_bytes,trigger".split(",")
    ])
    await first.call("DELETE", `/api/orgs/acme/service-accounts/${first.account}`)
    assert.deepStrictEqual((await first.call("GET", "/api/backups")).data, [backup])
    const denied = await first.program.call("GET", secret, { headers: { "x-api-key": first.key } })
    assertRefused(denied, 401, "UNAUTHORIZED")
    await first.program.remove()

    const machine = await Program.start({ ...superadmin, ...settings })
    const token = await machine.login("root@example.com")
    const listed = await machine.call("GET", "/api/backups", { token })
    assert.deepStrictEqual(listed.body.data, [backup])
    const restored = await machine.call("POST", `/api/backups/${backup.id}/restore`, { token })
    assert.strictEqual(restored.status, 200, restored.text)
    const { counts, path, size_bytes } = restored.body
    assert.deepStrictEqual(restored.body, {
      id: backup.id,
      path: `service.db.restore.${backup.id}`,
      size_bytes,
      counts
    })
    assert.deepInclude(counts, { organizations: 1, projects: 1, secrets: 1, versions: 1 })
    assert.deepInclude(listed.body.server, { organizations: 0 })
    assert.notStrictEqual(listed.body.server.instance, backup.instance)

    const early = await command(machine.folder, ["restore", "--apply", path])
    assert.strictEqual(early.code, 1)
    assert.match(early.err, /^coffer-server: the database service\.db is in use by another coffer-server/)
    await machine.stop()
    const applied = await command(machine.folder, ["restore", "--apply", path])
    assert.strictEqual(applied.code, 0, applied.err)
    assert.match(applied.out, new RegExp(`service\\.db is now the database of ${path.replaceAll(".", "\\.")}`))
    assert.match(applied.err, /^these API keys are valid again.*\n {2}acme: ci \(…\w{4}\)\n$/)
    assert.notInclude(applied.err, first.key)

    const again = await Program.start({ ...superadmin, ...settings }, machine.folder)
    assert.strictEqual((await again.call("GET", "/api/auth/me", { token: first.token })).status, 401)
    assert.strictEqual((await again.call("GET", "/api/auth/me", { token })).status, 401)
    const read = await again.call("GET", secret, { headers: { "x-api-key": first.key } })
    assert.strictEqual(read.body.value, "kept", read.text)
    const root = await again.login("root@example.com")
    assert.strictEqual((await again.call("GET", "/api/audit-logs/verify", { token: root })).body.valid, true)
    assert.strictEqual((await again.call("GET", "/api/orgs/acme/audit-logs/verify", { token: root })).body.valid, true)
    // A head that was kept before the backup is in the log still, as is the backup's own; a later one is not.
    const verified = async (seq: unknown, chain: unknown) =>
      (await again.call("GET", `/api/audit-logs/verify?seq=${String(seq)}&chain=${String(chain)}`, { token: root }))
        .body
    assert.isTrue((await verified(earlier.seq, earlier.chain)).valid)
    const [, seq, chain] = await machine.said(
      new RegExp(`audit head of system in backup ${backup.id}: (\\d+) ([0-9a-f]{64})`)
    )
    assert.isTrue((await verified(seq, chain)).valid)
    assert.isAbove(later.seq, Number(seq))
    assert.deepInclude(await verified(later.seq, later.chain), { valid: false, first_invalid_seq: later.seq })
    assert.notMatch(again.log, /NodeVersionSupport|AWS SDK/)
    await again.remove()
  })

  it("are proved good by a drill, of a superadmin and of the operator, while the server runs", async () => {
    const settings = freshSettings()
    const { call, program, token } = await inUse(settings)
    const backup = await call("POST", "/api/backups")
    const drilled = await call("POST", "/api/backups/drill", {})
    assert.deepInclude(drilled, { backup, valid: true, problems: [] })
    assert.strictEqual(drilled.counts.secrets, 1)
    await program.said(new RegExp(`drill: backup ${backup.id} is good`))

    const good = await command(program.folder, ["drill"], settings)
    assert.strictEqual(good.code, 0, good.err)
    assert.match(
      good.out,
      new RegExp(`^drill: backup ${backup.id} is good \\(.*\\): 1 secrets, 1 versions, \\d+ audit entries\n$`)
    )
    const wrongKey = await command(program.folder, ["drill"], { ...settings, SERVICE_MASTER_KEY: "ab".repeat(32) })
    assert.strictEqual(wrongKey.code, 1)
    assert.match(wrongKey.err, /is under another master key: its fingerprint is [0-9a-f]{16}, this key's is/)
    // On another machine, without a database.
    const elsewhere = await command(freshFolder(), ["drill", backup.id], settings)
    assert.strictEqual(elsewhere.code, 0, elsewhere.err)
    const [object = ""] = await keysBelow(settings.BACKUP_S3_PREFIX)
    const bytes = await readObject(object)
    bytes[5000] = (bytes[5000] ?? 0) ^ 1
    await writeObject(object, bytes)
    const damaged = await command(program.folder, ["drill"], settings)
    assert.strictEqual(damaged.code, 1)
    assert.match(damaged.err, /is damaged .*does not authenticate/)
    assert.isFalse((await call("POST", "/api/backups/drill", { backup_id: backup.id })).valid)
    assertRefused(
      await program.call("POST", "/api/backups/drill", { token, body: { backup_id: "no" } }),
      400,
      "VALIDATION_ERROR"
    )
    assert.deepStrictEqual(
      readdirSync(program.folder).filter((name) => name.startsWith(".")),
      []
    )
    assert.strictEqual((await command(program.folder, ["drill", "no"], settings)).code, 2)
    await program.remove()
  })

  it("are answered in the order that the decisions set", async () => {
    const { key, program, token } = await used
    const someone = await program.login("someone@example.com")
    const absent = "/api/backups/0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e/restore"
    for (const [method, path] of [
      ["POST", "/api/backups"],
      ["GET", "/api/backups"],
      ["POST", absent]
    ] as const) {
      assertRefused(await program.call(method, path), 401, "UNAUTHORIZED")
      assertRefused(await program.call(method, path, { token: someone }), 403, "FORBIDDEN")
      assertRefused(await program.call(method, path, { headers: { "x-api-key": key } }), 403, "FORBIDDEN")
    }
    assertRefused(await program.call("POST", "/api/backups/no/restore", { token }), 400, "VALIDATION_ERROR")
    assertRefused(await program.call("POST", absent, { token }), 404, "NOT_FOUND")
    assertRefused(await program.call("DELETE", "/api/backups", { token }), 405, "METHOD_NOT_ALLOWED")
    // Entries of refusals are written after the response.
    const found = async (): Promise<ReadonlyArray<string>> => {
      const log = await program.call("GET", "/api/audit-logs?action=access.denied&limit=100", { token })
      const actions = log.body.data.map((entry: { metadata: { action: string } }) => entry.metadata.action)
      return actions.length < 6 ? found() : actions
    }
    const refused = ["backup.create", "backup.list", "backup.restore"]
    assert.deepStrictEqual(
      [...(await found())].sort(),
      refused.flatMap((action) => [action, action])
    )
  })

  it("are made on schedule, the first at the start, and can be off altogether", async () => {
    const settings = freshSettings()
    const program = await Program.start({ ...superadmin, ...settings, BACKUP_SCHEDULE_HOURS: "1" })
    const token = await program.login("root@example.com")
    const backups = async () => (await program.call("GET", "/api/backups", { token })).body.data
    while ((await backups()).length === 0) await new Promise((resolve) => setTimeout(resolve, 100))
    assert.strictEqual((await backups())[0].trigger, "scheduled")
    await program.stop()
    assert.deepStrictEqual(
      readdirSync(program.folder).filter((name) => name.startsWith(".")),
      []
    )

    const off = await Program.start(superadmin, program.folder)
    const session = await off.login("root@example.com")
    for (const [method, path] of [
      ["POST", "/api/backups"],
      ["GET", "/api/backups"],
      ["POST", "/api/backups/0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e/restore"]
    ] as const) {
      assertRefused(await off.call(method, path, { token: session }), 503, "BACKUPS_DISABLED")
    }
    await off.remove()
  })

  it("do not stop the server when the store is away", async () => {
    const program = await Program.start({
      ...superadmin,
      ...freshSettings(),
      BACKUP_S3_ENDPOINT: "http://127.0.0.1:1",
      BACKUP_SCHEDULE_HOURS: "1"
    })
    await program.said(/a scheduled backup failed; retrying in 15 minutes/)
    const token = await program.login("root@example.com")
    assertRefused(await program.call("GET", "/api/backups", { token }), 502, "BACKUP_FAILED", /ECONNREFUSED/)
    assertRefused(await program.call("POST", "/api/backups", { token }), 502, "BACKUP_FAILED", /ECONNREFUSED/)
    assert.strictEqual((await program.call("GET", "/health")).status, 200)
    assert.notMatch(program.log, /^\s+at /m)
    await program.remove()
  })

  it("take their arguments as they should", async () => {
    const folder = freshFolder()
    for (const args of [
      ["restore", "file"],
      ["restore", "--apply"],
      ["restore", "--apply", "a", "b"]
    ].slice(isSoak ? 0 : 2)) {
      const { code, err } = await command(folder, args)
      assert.strictEqual(code, 2, args.join(" "))
      assert.match(err, /restore takes --apply and one file/)
    }
    const { code, err } = await command(folder, ["restore", "--apply", "absent.db"])
    assert.strictEqual(code, 1)
    assert.match(err, /^coffer-server: absent\.db does not exist; nothing was changed\n$/)
    assert.isFalse(existsSync(`${folder}/service.db`))
  })
})
