import { createHash, randomUUID } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { assertRefused, type Json } from "../support/Program.js"
import { type Caller, machines, type Person, Service, word } from "./Service.js"

let service: Service
let ada: Person

const org = "/api/orgs/acme"
const accounts = `${org}/service-accounts`
const secrets = `${org}/projects/web/envs/prod/secrets`

beforeAll(async () => {
  service = await Service.start()
  ada = await service.person("ada@example.com")
  await service.do(ada, "POST", "/api/orgs", { name: "acme" })
  await service.do(ada, "POST", `${org}/projects`, { name: "web" })
  await service.do(ada, "PUT", `${secrets}/A`, { value: "x" })
})

afterAll(async () => {
  await service.remove()
})

const create = async (body: unknown) => service.call(ada, "POST", accounts, { body })
const holder = (key: string): Caller => ({ id: "", headers: machines(key) })
const isGood = async (key: string): Promise<boolean> =>
  (await service.status(holder(key), "GET", "/api/auth/me")) === 200
const listed = async (id: string): Promise<Json> =>
  (await service.do(ada, "GET", accounts)).data.find((account: Json) => account.id === id)
const rotate = async (id: string, body: unknown = {}): Promise<Json> =>
  service.do(ada, "POST", `${accounts}/${id}/rotate`, body)

/** Everything that is on disk of the database. */
const onDisk = (): string =>
  ["", "-wal", "-shm"]
    .map((suffix) => service.program.file(suffix))
    .filter(existsSync)
    .map((file) => readFileSync(file, "latin1"))
    .join()

/** Lets someone with the database turn the clock on: what ends then has ended now. */
const onDatabase = async (statement: string): Promise<void> => service.program.execute(statement)

const days = (from: string, count: number): string => new Date(Date.parse(from) + count * 86_400_000).toISOString()

describe("an account without a key", () => {
  it("has nothing that could be stored, until it is given a key", async () => {
    const { body, status } = await create({ name: "keyless", key: false })
    assert.strictEqual(status, 201)
    assert.notProperty(body, "api_key")
    assert.deepInclude(await listed(body.id), { key_hint: "", expires_at: null, last_used_at: null })
    const [entry] = (await service.do(ada, "GET", `${org}/audit-logs?action=service_account.create&limit=1`)).data
    assert.deepInclude(entry.metadata, { name: "keyless", key: false })
    const { api_key, key_hint } = await rotate(body.id)
    assert.isTrue(await isGood(api_key))
    assert.strictEqual((await listed(body.id)).key_hint, key_hint)
    await service.do(ada, "DELETE", `${accounts}/${body.id}`)
    assert.isFalse(await isGood(api_key))
  })

  it("is removed like any other, and has no time when its key ends", async () => {
    assertRefused(await create({ name: "odd", key: false, expires_in_days: 5 }), 400, "VALIDATION_ERROR", /^expires_in/)
    const { body } = await create({ name: "brief", key: false })
    await service.do(ada, "DELETE", `${accounts}/${body.id}`)
    assert.isUndefined(await listed(body.id))
  })
})

describe("the name of a new account", () => {
  it("is free of spaces around it, and taken whatever its case", async () => {
    assert.strictEqual((await create({ name: " Release bot " })).body.name, "Release bot")
    for (const name of ["Release bot", "release bot", "RELEASE BOT", "Release bot ", " release bot"]) {
      assertRefused(await create({ name }), 409, "CONFLICT", /in use/)
    }
    assertRefused(await create({ name: "release bot" }), 409, "CONFLICT", /in use, as "Release bot": choose another$/)
    assert.strictEqual((await create({ name: "Release  bot" })).status, 201, "spaces inside do count")
    assertRefused(await create({ name: "  " }), 400, "VALIDATION_ERROR", /^name: /)
  })

  it("may be like an older account's of an earlier version, which keeps working", async () => {
    const [first, second] = [await create({ name: "older" }), await create({ name: "other" })]
    await onDatabase(`UPDATE service_accounts SET name = 'OLDER ' WHERE id = '${second.body.id}'`)
    assertRefused(await create({ name: "Older" }), 409, "CONFLICT", /in use/)
    for (const { body } of [first, second]) {
      assert.isTrue(await isGood(body.api_key))
      assert.isTrue(await isGood((await rotate(body.id)).api_key))
    }
    assert.strictEqual((await listed(second.body.id)).name, "OLDER ")
  })
})

describe("a new account", () => {
  it("is answered once with its key, and never again", async () => {
    const { body, status } = await create({ name: "deploy pipeline" })
    assert.strictEqual(status, 201)
    const { api_key, created_at, id, ...rest } = body
    assert.match(api_key, /^svc_sa_[0-9A-Za-z]{49}$/)
    assert.deepStrictEqual(rest, {
      name: "deploy pipeline",
      project: null,
      reveal: true,
      key_hint: api_key.slice(-4),
      expires_at: null,
      created_by: "ada@example.com",
      last_used_at: null
    })
    const { etag, ...item } = await listed(id)
    assert.isString(etag)
    assert.deepStrictEqual(item, { id, created_at, ...rest })
    const everything = [
      await service.call(ada, "GET", accounts),
      await service.call(ada, "GET", `${org}/audit-logs?limit=100`)
    ]
    for (const { text } of everything) {
      assert.notInclude(text, api_key)
      assert.notInclude(text, api_key.slice(7, 30))
    }
    assert.notInclude(service.program.log, api_key.slice(7, 30))
  })

  // The files of PostgreSQL belong to its own user.
  it.skipIf(inject("postgres") !== undefined)("has its key in the database as a hash alone", async () => {
    const { key } = await service.account(ada, "acme")
    const disk = onDisk()
    assert.include(disk, createHash("sha256").update(key).digest("hex"))
    for (const part of [key, key.slice(7), key.slice(7, 27), key.slice(27, 50)]) assert.notInclude(disk, part)
  })

  it("knows itself, and has nothing before a rule says so", async () => {
    const account = await service.account(ada, "acme", { project: "web" })
    const me = await service.do(account, "GET", "/api/auth/me")
    assert.deepStrictEqual(me, {
      id: account.id,
      type: "service_account",
      name: account.name,
      org: "acme",
      project: "web",
      is_superadmin: false
    })
    assert.strictEqual(await service.status(account, "GET", secrets), 403)
    const { data } = await service.do(account, "GET", "/api/orgs")
    assert.deepStrictEqual(
      data.map(({ name, role }: Json) => ({ name, role })),
      [{ name: "acme", role: null }]
    )
  })

  it("never has a role, even when an owner made it and a person of its name has one", async () => {
    const account = await service.account(ada, "acme", { name: "ada" })
    await service.grant(ada, "acme", account, "admin")
    assert.strictEqual(await service.status(account, "POST", `${org}/projects`, { name: word() }), 403)
    assert.strictEqual(await service.status(account, "PATCH", org, { name: word() }), 403)
  })

  it.each([
    ["a letter", "a"],
    ["64 characters", "a".repeat(64)],
    ["all that is allowed", "0 A.b_c-d"],
    ["almost a UUID", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2"]
  ])("may be named by %s", async (_what, name) => {
    assert.strictEqual((await create({ name })).status, 201)
  })

  it.each([
    ["nothing", ""],
    ["65 characters", "a".repeat(65)],
    ["a dash first", "-a"],
    ["a dot first", ".a"],
    ["a slash", "a/b"],
    ["a letter beyond ASCII", "ä"],
    ["a line break", "a\n"],
    ["a UUID", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"],
    ["a UUID in capitals", "0192F0C1-5B7E-7C3A-9D2E-4F6A8B0C1D2E"],
    ["a number", 7]
  ])("may not be named by %s", async (_what, name) => {
    assertRefused(await create({ name }), 400, "VALIDATION_ERROR", /^name: /)
  })

  it.each([
    ["no days", { expires_in_days: 0 }, /^expires_in_days: /],
    ["3651 days", { expires_in_days: 3651 }, /^expires_in_days: /],
    ["half a day", { expires_in_days: 0.5 }, /^expires_in_days: /],
    ["days as text", { expires_in_days: "1" }, /^expires_in_days: /],
    ["a reveal that is no boolean", { reveal: "false" }, /^reveal: /],
    ["a null project", { project: null }, /^project: /],
    ["a key of its own", { api_key: "svc_sa_x" }, /^api_key: /]
  ])("may not have %s", async (_what, fields, message) => {
    assertRefused(await create({ name: word(), ...fields }), 400, "VALIDATION_ERROR", message)
  })

  it("is refused for a project that does not exist", async () => {
    assertRefused(await create({ name: word(), project: "not-there" }), 404, "NOT_FOUND", /not-there/)
    await service.do(ada, "POST", `${org}/projects`, { name: "short-lived" })
    await service.do(ada, "DELETE", `${org}/projects/short-lived`)
    assertRefused(await create({ name: word(), project: "short-lived" }), 404, "NOT_FOUND")
  })

  it("has a name of its own among the live ones of its organization", async () => {
    const name = word()
    const first = await service.account(ada, "acme", { name })
    assertRefused(await create({ name }), 409, "CONFLICT", new RegExp(name))
    await service.do(ada, "POST", "/api/orgs", { name: "umbrella" })
    await service.account(ada, "umbrella", { name })
    await service.grant(ada, "acme", first, "read")
    await service.do(ada, "DELETE", `${accounts}/${first.id}`)
    const second = await service.account(ada, "acme", { name })
    assert.notStrictEqual(second.id, first.id)
    assert.strictEqual(await service.status(second, "GET", secrets), 403)
  })

  it("is one when eight ask for its name at once", async () => {
    const name = word()
    const answers = await Promise.all(Array.from({ length: 8 }, async () => create({ name })))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 7 }, () => 409)])
  })
})

describe("a key", () => {
  it("is nobody's when it is mistyped, of another kind, or sent beside another credential", async () => {
    const { key } = await service.account(ada, "acme")
    const mistyped = key.slice(0, 20) + (key[20] === "a" ? "b" : "a") + key.slice(21)
    for (const text of [mistyped, "", "svc_sa_", ada.token, key.toLowerCase(), `${key}0`]) {
      assert.isFalse(await isGood(text), text)
    }
    const asBearer = { id: "", headers: { authorization: `Bearer ${key}` } }
    assert.strictEqual(await service.status(asBearer, "GET", "/api/auth/me"), 401)
    const both = { id: "", headers: { ...ada.headers, ...machines(mistyped) } }
    assert.strictEqual(await service.status(both, "GET", "/api/auth/me"), 401)
  })

  it("ends by itself after its days, and a rotation gives as many again", async () => {
    const { body } = await create({ name: word(), expires_in_days: 30 })
    assert.strictEqual(body.expires_at, days(body.created_at, 30))
    assert.isTrue(await isGood(body.api_key))
    const past = "2020-01-01T00:00:00.000Z"
    await onDatabase(`UPDATE api_keys SET expires_at = '${past}' WHERE service_account_id = '${body.id}'`)
    assert.isFalse(await isGood(body.api_key))
    assert.strictEqual((await listed(body.id)).expires_at, past)

    const rotated = await rotate(body.id, { grace_seconds: 600 })
    assert.isTrue(await isGood(rotated.api_key))
    assert.isAbove(Date.parse(rotated.expires_at), Date.now() + 29 * 86_400_000)
    // A grace does not bring back what had ended.
    assert.isFalse(await isGood(body.api_key))
  })

  it("of the longest life is good", async () => {
    const { body } = await create({ name: word(), expires_in_days: 3650 })
    assert.strictEqual(body.expires_at, days(body.created_at, 3650))
    assert.isTrue(await isGood(body.api_key))
  })

  it("notes when it was last used, at most once a minute", async () => {
    const account = await service.account(ada, "acme")
    assert.isNull((await listed(account.id)).last_used_at)
    const before = Date.now()
    assert.isTrue(await isGood(account.key))
    let used: string | null = null
    while (used === null) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      used = (await listed(account.id)).last_used_at
    }
    assert.isAtLeast(Date.parse(used), before - 5)
    assert.isTrue(await isGood(account.key))
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.strictEqual((await listed(account.id)).last_used_at, used)
    await onDatabase(`UPDATE service_accounts SET last_used_at = '2020-01-01T00:00:00.000Z' WHERE id = '${account.id}'`)
    assert.isTrue(await isGood(account.key))
    while (Date.parse((await listed(account.id)).last_used_at) < before - 5) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
})

describe("a rotation", () => {
  it("without a grace ends the old key at once", async () => {
    for (const body of [{}, { grace_seconds: 0 }]) {
      const account = await service.account(ada, "acme")
      const rotated = await rotate(account.id, body)
      assert.notStrictEqual(rotated.api_key, account.key)
      assert.strictEqual(rotated.key_hint, rotated.api_key.slice(-4))
      assert.strictEqual((await listed(account.id)).key_hint, rotated.key_hint)
      assert.isFalse(await isGood(account.key))
      assert.isTrue(await isGood(rotated.api_key))
    }
  })

  it("with a grace lets the old key be good until then, and not longer", async () => {
    const account = await service.account(ada, "acme")
    await service.grant(ada, "acme", account, "read")
    const rotated = await rotate(account.id, { grace_seconds: 600 })
    for (const key of [account.key, rotated.api_key]) {
      assert.strictEqual(await service.status(holder(key), "GET", `${secrets}/A`), 200)
    }
    await onDatabase(
      `UPDATE api_keys SET expires_at = '2020-01-01T00:00:00.000Z' WHERE service_account_id = '${account.id}' AND replaced_at IS NOT NULL`
    )
    assert.strictEqual(await service.status(holder(account.key), "GET", `${secrets}/A`), 401)
    assert.strictEqual(await service.status(holder(rotated.api_key), "GET", `${secrets}/A`), 200)
  })

  it("never makes an older key good for longer", async () => {
    const account = await service.account(ada, "acme")
    const second = await rotate(account.id, { grace_seconds: 600 })
    const third = await rotate(account.id, { grace_seconds: 0 })
    assert.isFalse(await isGood(account.key))
    assert.isFalse(await isGood(second.api_key))
    const fourth = await rotate(account.id, { grace_seconds: 604_800 })
    assert.isFalse(await isGood(account.key))
    assert.isFalse(await isGood(second.api_key))
    assert.isTrue(await isGood(third.api_key))
    assert.isTrue(await isGood(fourth.api_key))
  })

  it("with a grace is refused beyond 200 valid keys: an expired one makes room, and one without a grace ends all", async () => {
    const account = await service.account(ada, "acme")
    const path = `${accounts}/${account.id}/rotate`
    const [end, earlier] = [new Date(Date.now() + 60_000), new Date(0)].map((time) => time.toISOString())
    const keys = Array.from({ length: 199 }, () => {
      const id = randomUUID()
      return `('${id}', '${account.id}', '${id}', 'hint', '${earlier}', '${earlier}', '${end}')`
    })
    await onDatabase(
      `INSERT INTO api_keys (id, service_account_id, token_hash, hint, created_at, replaced_at, expires_at) VALUES ${keys.join(", ")}`
    )
    const refused = await service.call(ada, "POST", path, { body: { grace_seconds: 1 } })
    assertRefused(refused, 409, "LIMIT_EXCEEDED", /at most 200 valid keys: rotate without a grace period/)
    await onDatabase(
      `UPDATE api_keys SET expires_at = '${earlier}' WHERE id = (
        SELECT min(id) FROM api_keys WHERE service_account_id = '${account.id}' AND replaced_at IS NOT NULL)`
    )
    const second = await rotate(account.id, { grace_seconds: 1 })
    assertRefused(await service.call(ada, "POST", path, { body: { grace_seconds: 1 } }), 409, "LIMIT_EXCEEDED", /./)
    const third = await rotate(account.id)
    assert.deepStrictEqual([await isGood(second.api_key), await isGood(third.api_key)], [false, true])
    assert.isTrue(await isGood((await rotate(account.id, { grace_seconds: 1 })).api_key))
  })

  it("leaves the account as it was: its rules, its project, its reveal", async () => {
    const account = await service.account(ada, "acme", { project: "web", reveal: false })
    await service.grant(ada, "acme", account, "read")
    const { last_used_at: _, key_hint: _hint, ...before } = await listed(account.id)
    const { api_key, key_hint, last_used_at: __, ...rotated } = await rotate(account.id)
    assert.deepStrictEqual(rotated, before)
    assert.strictEqual(key_hint, api_key.slice(-4))
    assert.strictEqual(await service.status(holder(api_key), "GET", secrets), 200)
    assert.strictEqual(await service.status(holder(api_key), "GET", `${secrets}/A`), 403)
  })

  it("of one that races with itself leaves one key", async () => {
    const account = await service.account(ada, "acme")
    const rotations = await Promise.all(Array.from({ length: 6 }, async () => rotate(account.id)))
    const good = await Promise.all([account.key, ...rotations.map(({ api_key }) => api_key)].map(isGood))
    assert.strictEqual(good.filter((isOne) => isOne).length, 1)
  })

  it.each([-1, 604_801, 1.5, "0", null])("takes no grace of %j", async (grace_seconds) => {
    const account = await service.account(ada, "acme")
    const answer = await service.call(ada, "POST", `${accounts}/${account.id}/rotate`, { body: { grace_seconds } })
    assertRefused(answer, 400, "VALIDATION_ERROR", /^grace_seconds: /)
    assert.isTrue(await isGood(account.key))
  })
})

describe("a revocation", () => {
  it("ends every key of the account and takes its rules along", async () => {
    const account = await service.account(ada, "acme")
    await service.grant(ada, "acme", account, "read")
    await service.grant(ada, "acme", account, "admin", "web", "prod")
    const rotated = await rotate(account.id, { grace_seconds: 600 })
    assert.isTrue(await isGood(account.key))
    assert.strictEqual(await service.status(ada, "DELETE", `${accounts}/${account.id}`), 204)
    for (const key of [account.key, rotated.api_key]) assert.isFalse(await isGood(key))
    assert.isUndefined(await listed(account.id))
    const rules = (await service.do(ada, "GET", `${org}/acl`)).data
    assert.deepStrictEqual(
      rules.filter((rule: Json) => rule.subject_id === account.id),
      []
    )
    const [entry] = await service.entries(ada, `${org}/audit-logs`, "service_account.revoke")
    assert.strictEqual(entry.resource_id, account.id)
    assert.deepStrictEqual(entry.metadata, { name: account.name, rules_removed: 2 })
    for (const [method, path] of [
      ["DELETE", `${accounts}/${account.id}`],
      ["POST", `${accounts}/${account.id}/rotate`]
    ] as const) {
      const body = method === "POST" ? {} : undefined
      assertRefused(await service.call(ada, method, path, { body }), 404, "NOT_FOUND")
    }
    const body = { subject_type: "service_account", subject_id: account.id, project_pattern: "*", env_pattern: "*" }
    assert.strictEqual(await service.status(ada, "POST", `${org}/acl`, { ...body, permission: "read" }), 404)
  })
})

describe("an account scoped to a project", () => {
  const inProject = async (caller: Caller, project: string): Promise<number> =>
    service.status(caller, "GET", `${org}/projects/${project}/envs/prod/secrets`)

  it("is bound to the project itself: a new one of the same name is not there for it", async () => {
    const project = word()
    await service.do(ada, "POST", `${org}/projects`, { name: project })
    const account = await service.account(ada, "acme", { project })
    await service.grant(ada, "acme", account, "admin")
    assert.strictEqual(await inProject(account, project), 200)
    await service.do(ada, "DELETE", `${org}/projects/${project}`)
    assert.strictEqual(await inProject(account, project), 401)
    await service.do(ada, "POST", `${org}/projects`, { name: project })
    assert.strictEqual(await inProject(account, project), 401)
    for (const path of [`${org}/projects/${project}`, `${org}/projects`, "/api/auth/me"]) {
      assert.strictEqual(await service.status(account, "GET", path), 401)
    }
    const query = `subject_type=service_account&subject_id=${account.id}&project=${project}&env=prod`
    assert.deepStrictEqual((await service.do(ada, "GET", `${org}/acl/explain?${query}`)).allowed, [])
  })

  it("goes with the project when it is renamed", async () => {
    const [before, after] = [word(), word()]
    await service.do(ada, "POST", `${org}/projects`, { name: before })
    const account = await service.account(ada, "acme", { project: before })
    await service.grant(ada, "acme", account, "read")
    await service.do(ada, "PATCH", `${org}/projects/${before}`, { name: after })
    assert.strictEqual(await inProject(account, after), 200)
    assert.strictEqual((await listed(account.id)).project, after)
    await service.do(ada, "POST", `${org}/projects`, { name: before })
    assert.strictEqual(await inProject(account, before), 404)
  })
})
