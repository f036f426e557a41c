import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type Answer,
  assertRefused,
  assertStandardHeaders,
  type CallOptions,
  Program,
  type Json
} from "../support/Program.js"

let program: Program
let ada: string
let eve: string

beforeAll(async () => {
  program = await Program.start()
  ada = await program.login("ada@example.com")
  eve = await program.login("eve@example.com")
  await made("POST", "/api/orgs", { name: "acme" })
  await made("POST", "/api/orgs/acme/projects", { name: "webshop" })
})

afterAll(async () => {
  assert.notInclude(program.log, "defect")
  await program.remove()
})

const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
  const answer = await program.call(method, path, { token: ada, ...options })
  assertStandardHeaders(answer)
  return answer
}

const done = async (status: number, method: string, path: string, options: CallOptions = {}): Promise<Json> => {
  const answer = await call(method, path, options)
  assert.strictEqual(answer.status, status, answer.text)
  return answer.body
}

const made = async (method: string, path: string, body: unknown): Promise<Json> => done(201, method, path, { body })

const missing = async (method: string, path: string, options: CallOptions = {}): Promise<void> => {
  assertRefused(await call(method, path, options), 404, "NOT_FOUND")
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const namesIn = ({ data }: { data: ReadonlyArray<{ name: string }> }): Array<string> => data.map(({ name }) => name)

describe("an organization", () => {
  it("is made by anyone who is logged in, who owns it then", async () => {
    const body = await made("POST", "/api/orgs", { name: "initech" })
    assert.deepStrictEqual(Object.keys(body).sort(), [
      "created_at",
      "id",
      "name",
      "passkey_recovery",
      "role",
      "unused_access_mail",
      "updated_at"
    ])
    assert.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    assert.match(body.created_at, moment)
    assert.deepStrictEqual([body.name, body.role, body.updated_at], ["initech", "owner", body.created_at])
    assert.deepStrictEqual(await done(200, "GET", "/api/orgs/initech"), body)
  })

  it("is one of those that its owner lists, and nobody else", async () => {
    assert.includeMembers(namesIn(await done(200, "GET", "/api/orgs")), ["acme"])
    assert.deepStrictEqual(await done(200, "GET", "/api/orgs", { token: eve }), { data: [] })
  })

  it("has a name of its own", async () => {
    assertRefused(await call("POST", "/api/orgs", { body: { name: "acme" } }), 409, "CONFLICT", /acme is in use/)
    await made("POST", "/api/orgs", { name: "other" })
    assertRefused(await call("PATCH", "/api/orgs/other", { body: { name: "acme" } }), 409, "CONFLICT")
  })

  it("can be renamed, keeps what is in it, and frees its old name", async () => {
    const before = await made("POST", "/api/orgs", { name: "hooli" })
    await made("POST", "/api/orgs/hooli/projects", { name: "nucleus" })
    const after = await done(200, "PATCH", "/api/orgs/hooli", { body: { name: "hooli-xyz" } })
    assert.deepStrictEqual({ ...after, updated_at: "" }, { ...before, name: "hooli-xyz", updated_at: "" })
    await missing("GET", "/api/orgs/hooli")
    await done(200, "GET", "/api/orgs/hooli-xyz/projects/nucleus")
    const next = await made("POST", "/api/orgs", { name: "hooli" })
    assert.notStrictEqual(next.id, before.id)
  })

  it("is out of reach once it is removed, with all its content, and its name starts anew", async () => {
    const secret = "/api/orgs/gone/projects/app/envs/dev/secrets/KEY"
    await made("POST", "/api/orgs", { name: "gone" })
    await made("POST", "/api/orgs/gone/projects", { name: "app" })
    await done(200, "PUT", secret, { body: { value: "old" } })
    await done(204, "DELETE", "/api/orgs/gone")
    for (const path of ["/api/orgs/gone", "/api/orgs/gone/projects", "/api/orgs/gone/projects/app", secret]) {
      await missing("GET", path)
    }
    await missing("DELETE", "/api/orgs/gone")
    assert.notInclude(namesIn(await done(200, "GET", "/api/orgs")), "gone")
    await made("POST", "/api/orgs", { name: "gone" })
    assert.deepStrictEqual(await done(200, "GET", "/api/orgs/gone/projects"), { data: [] })
    await made("POST", "/api/orgs/gone/projects", { name: "app" })
    await missing("GET", secret)
  })

  it("is not told apart from a missing one by an outsider, whatever is asked", async () => {
    const calls = [
      ["GET", ""],
      ["PATCH", "", { name: "mine-now" }],
      ["DELETE", ""],
      ["GET", "/projects"],
      ["POST", "/projects", { name: "mine" }],
      ["GET", "/projects/webshop"],
      ["PATCH", "/projects/webshop", { name: "mine" }],
      ["DELETE", "/projects/webshop"],
      ["GET", "/projects/webshop/envs"],
      ["POST", "/projects/webshop/envs", { name: "qa" }],
      ["DELETE", "/projects/webshop/envs/dev"],
      ["GET", "/projects/webshop/envs/dev/secrets"],
      ["PUT", "/projects/webshop/envs/dev/secrets/KEY", { value: "x" }],
      ["GET", "/projects/webshop/envs/dev/secrets/KEY"],
      ["DELETE", "/projects/webshop/envs/dev/secrets/KEY"],
      ["GET", "/projects/webshop/envs/dev/bundle"],
      ["PATCH", "/projects/webshop/envs/dev/bundle", { set: { A: "x" } }]
    ] as const
    for (const [method, path, body] of calls) {
      const theirs = await call(method, `/api/orgs/acme${path}`, { token: eve, body })
      const none = await call(method, `/api/orgs/none${path}`, { token: eve, body })
      assertRefused(theirs, 404, "NOT_FOUND")
      assert.strictEqual(theirs.text.replaceAll("acme", "none"), none.text)
    }
    assert.deepStrictEqual(namesIn(await done(200, "GET", "/api/orgs/acme/projects")), ["webshop"])
  })
})

describe("a project", () => {
  it("comes with the environments dev, staging and prod", async () => {
    const body = await made("POST", "/api/orgs/acme/projects", { name: "api" })
    assert.deepStrictEqual(Object.keys(body).sort(), ["created_at", "id", "name", "strict", "updated_at"])
    assert.deepStrictEqual(await done(200, "GET", "/api/orgs/acme/projects/api"), body)
    const envs = await done(200, "GET", "/api/orgs/acme/projects/api/envs")
    assert.sameMembers(namesIn(envs), ["dev", "staging", "prod"])
    assert.deepStrictEqual(Object.keys(envs.data[0]).sort(), ["created_at", "id", "name", "updated_at"])
  })

  it("has a name of its own in its organization, and may share it with another organization's", async () => {
    const body = { name: "webshop" }
    assertRefused(await call("POST", "/api/orgs/acme/projects", { body }), 409, "CONFLICT")
    await made("POST", "/api/orgs", { name: "sharing" })
    await made("POST", "/api/orgs/sharing/projects", body)
  })

  it("can be renamed with all its secrets", async () => {
    await made("POST", "/api/orgs/acme/projects", { name: "before" })
    await done(200, "PUT", "/api/orgs/acme/projects/before/envs/dev/secrets/KEY", { body: { value: "kept" } })
    assertRefused(await call("PATCH", "/api/orgs/acme/projects/before", { body: { name: "webshop" } }), 409, "CONFLICT")
    await done(200, "PATCH", "/api/orgs/acme/projects/before", { body: { name: "after" } })
    await missing("GET", "/api/orgs/acme/projects/before")
    const secret = await done(200, "GET", "/api/orgs/acme/projects/after/envs/dev/secrets/KEY")
    assert.strictEqual(secret.value, "kept")
  })

  it("is out of reach once it is removed, and its name starts anew", async () => {
    const project = "/api/orgs/acme/projects/short-lived"
    await made("POST", "/api/orgs/acme/projects", { name: "short-lived" })
    await done(200, "PUT", `${project}/envs/dev/secrets/KEY`, { body: { value: "old" } })
    await done(204, "DELETE", project)
    for (const path of ["", "/envs", "/envs/dev/secrets", "/envs/dev/secrets/KEY", "/envs/dev/bundle"]) {
      await missing("GET", project + path)
    }
    await missing("DELETE", project)
    await made("POST", "/api/orgs/acme/projects", { name: "short-lived" })
    assert.deepStrictEqual(await done(200, "GET", `${project}/envs/dev/secrets`), { data: [] })
    await missing("GET", `${project}/envs/dev/secrets/KEY`)
  })
})

describe("an environment", () => {
  const envs = "/api/orgs/acme/projects/webshop/envs"

  it("is added, listed and has a name of its own", async () => {
    const body = await made("POST", envs, { name: "qa" })
    assert.deepStrictEqual(Object.keys(body).sort(), ["created_at", "id", "name", "updated_at"])
    assert.sameMembers(namesIn(await done(200, "GET", envs)), ["dev", "staging", "prod", "qa"])
    assertRefused(await call("POST", envs, { body: { name: "qa" } }), 409, "CONFLICT")
  })

  it("is out of reach once it is removed, and its name starts anew, with revisions of its own", async () => {
    await made("POST", envs, { name: "brief" })
    await done(200, "PUT", `${envs}/brief/secrets/KEY`, { body: { value: "old" } })
    const before = await call("GET", `${envs}/brief/bundle`)
    await done(204, "DELETE", `${envs}/brief`)
    for (const path of ["/secrets", "/secrets/KEY", "/bundle"]) await missing("GET", `${envs}/brief${path}`)
    await made("POST", envs, { name: "brief" })
    await done(200, "PUT", `${envs}/brief/secrets/KEY`, { body: { value: "new" } })
    const etag = before.headers.get("etag") ?? assert.fail()
    const after = await call("GET", `${envs}/brief/bundle`, { headers: { "if-none-match": etag } })
    assert.strictEqual(after.status, 200)
    assert.strictEqual(after.body.data[0].value, "new")
  })

  it("keeps its secrets apart from those of its neighbours", async () => {
    await done(200, "PUT", `${envs}/dev/secrets/SHARED`, { body: { value: "of dev" } })
    await missing("GET", `${envs}/staging/secrets/SHARED`)
    await done(200, "PUT", `${envs}/staging/secrets/SHARED`, { body: { value: "of staging" } })
    assert.strictEqual((await done(200, "GET", `${envs}/dev/secrets/SHARED`)).value, "of dev")
  })

  it("is limited to 100 in a project", async () => {
    await made("POST", "/api/orgs/acme/projects", { name: "crowded" })
    const crowded = "/api/orgs/acme/projects/crowded/envs"
    for (let i = 4; i <= 100; i++) await made("POST", crowded, { name: `env-${i}` })
    assertRefused(await call("POST", crowded, { body: { name: "one-more" } }), 409, "LIMIT_EXCEEDED", /at most 100/)
    await done(204, "DELETE", `${crowded}/env-50`)
    await made("POST", crowded, { name: "one-more" })
  })
})

describe("a secret", () => {
  const secrets = "/api/orgs/acme/projects/webshop/envs/prod/secrets"

  it("is written as version 1, then 2, and read back as it is and as it was", async () => {
    const first = await done(200, "PUT", `${secrets}/DATABASE_URL`, { body: { value: "postgres://one" } })
    assert.deepStrictEqual(Object.keys(first), ["key", "version", "created_at", "updated_at"])
    assert.deepStrictEqual([first.key, first.version, first.updated_at], ["DATABASE_URL", 1, first.created_at])
    const second = await done(200, "PUT", `${secrets}/DATABASE_URL`, { body: { value: "postgres://two" } })
    assert.deepStrictEqual([second.version, second.created_at], [2, first.created_at])
    assert.isAtLeast(Date.parse(second.updated_at), Date.parse(first.updated_at))
    const read = async (query = "") => done(200, "GET", `${secrets}/DATABASE_URL${query}`)
    assert.deepStrictEqual(await read(), { key: "DATABASE_URL", value: "postgres://two", version: 2 })
    assert.deepStrictEqual(await read("?version=2"), await read())
    assert.deepStrictEqual(await read("?version=1"), { key: "DATABASE_URL", value: "postgres://one", version: 1 })
    assertRefused(await call("GET", `${secrets}/DATABASE_URL?version=3`), 404, "NOT_FOUND", /version 3/)
  })

  it("has one version for each of many writes that race", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => done(200, "PUT", `${secrets}/RACE`, { body: { value: `v${i}` } }))
    )
    assert.deepStrictEqual(
      answers.map(({ version }) => version).sort((a: number, b: number) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 1)
    )
  })

  it("is written only over the expected version", async () => {
    const put = async (value: string, expected_version: number) =>
      call("PUT", `${secrets}/GUARDED`, { body: { value, expected_version } })
    assertRefused(await put("x", 1), 409, "CONFLICT", /does not exist, and version 1 was expected/)
    assert.strictEqual((await put("one", 0)).body.version, 1)
    assertRefused(await put("x", 0), 409, "CONFLICT", /is at version 1, and no secret was expected/)
    assert.strictEqual((await put("two", 1)).body.version, 2)
    assertRefused(await put("x", 1), 409, "CONFLICT", /is at version 2/)
    assert.deepStrictEqual(await done(200, "GET", `${secrets}/GUARDED`), { key: "GUARDED", value: "two", version: 2 })
    const racing = await Promise.all(["a", "b", "c", "d"].map(async (value) => put(value, 2)))
    assert.deepStrictEqual(racing.map(({ status }) => status).sort(), [200, 409, 409, 409])
  })

  it("is removed only at the expected version, and its key starts at version 1 again", async () => {
    await done(200, "PUT", `${secrets}/DOOMED`, { body: { value: "one" } })
    await done(200, "PUT", `${secrets}/DOOMED`, { body: { value: "two" } })
    for (const version of [0, 1, 3]) {
      assertRefused(await call("DELETE", `${secrets}/DOOMED?expected_version=${version}`), 409, "CONFLICT")
    }
    const removed = await call("DELETE", `${secrets}/DOOMED?expected_version=2`)
    assert.deepStrictEqual([removed.status, removed.text], [204, ""])
    for (const query of ["", "?version=1", "?version=2"]) await missing("GET", `${secrets}/DOOMED${query}`)
    await missing("DELETE", `${secrets}/DOOMED`)
    assert.strictEqual((await done(200, "PUT", `${secrets}/DOOMED`, { body: { value: "new" } })).version, 1)
    assert.strictEqual((await done(200, "GET", `${secrets}/DOOMED?version=1`)).value, "new")
    await missing("GET", `${secrets}/DOOMED?version=2`)
  })

  it("is listed by key and version, in the order of bytes, without its value", async () => {
    const listed = "/api/orgs/acme/projects/api/envs/dev/secrets"
    for (const key of ["b", "_a", "B", "a.b", "a-b", "A"])
      await done(200, "PUT", `${listed}/${key}`, { body: { value: "hidden" } })
    await done(200, "PUT", `${listed}/b`, { body: { value: "hidden" } })
    const answer = await call("GET", listed)
    assert.notInclude(answer.text, "hidden")
    assert.deepStrictEqual(
      answer.body.data.map(({ key, version }: Json) => [key, version]),
      [
        ["A", 1],
        ["B", 1],
        ["_a", 1],
        ["a-b", 1],
        ["a.b", 1],
        ["b", 2]
      ]
    )
    assert.deepStrictEqual(Object.keys(answer.body.data[0]), ["key", "version", "updated_at"])
  })

  it("is told apart by the case of its key", async () => {
    await done(200, "PUT", `${secrets}/Case`, { body: { value: "1" } })
    await missing("GET", `${secrets}/CASE`)
  })
})

describe("a bundle", () => {
  const bundle = "/api/orgs/acme/projects/webshop/envs/staging/bundle"
  const secrets = "/api/orgs/acme/projects/webshop/envs/staging/secrets"
  const read = async (query = "", headers: Record<string, string> = {}) => call("GET", bundle + query, { headers })
  const patch = async (body: unknown, headers: Record<string, string> = {}) => call("PATCH", bundle, { body, headers })
  const changes = ({ body }: Answer) => body.data.map(({ change, key, version }: Json) => [key, version, change])
  const etagOf = ({ headers }: Answer): string => headers.get("etag") ?? assert.fail("no ETag")

  it("writes and removes many secrets at once, and says what became of each", async () => {
    const first = await patch({ set: { ALPHA: "1", BETA: "2", GAMMA: "3" }, delete: ["SHARED", "NEVER"] })
    assert.strictEqual(first.status, 200, first.text)
    assert.deepStrictEqual(changes(first), [
      ["ALPHA", 1, "created"],
      ["BETA", 1, "created"],
      ["GAMMA", 1, "created"],
      ["NEVER", 0, "unchanged"],
      ["SHARED", 1, "deleted"]
    ])
    const second = await patch({ set: { ALPHA: "1", BETA: "two" }, delete: ["GAMMA"] })
    assert.deepStrictEqual(changes(second), [
      ["ALPHA", 1, "unchanged"],
      ["BETA", 2, "updated"],
      ["GAMMA", 1, "deleted"]
    ])
    assert.strictEqual(second.body.revision, Number(first.body.revision) + 1)
    const { body } = await read()
    assert.strictEqual(body.revision, second.body.revision)
    assert.deepStrictEqual(
      body.data.map(({ key, value, version }: Json) => [key, value, version]),
      [
        ["ALPHA", "1", 1],
        ["BETA", "two", 2]
      ]
    )
    assert.deepStrictEqual(Object.keys(body.data[0]).sort(), ["key", "updated_at", "value", "version"])
    assert.strictEqual((await done(200, "GET", `${secrets}/BETA?version=1`)).value, "2")
  })

  it("writes nothing when one of its parts is refused", async () => {
    const before = await read()
    const whole = { set: { NEW: "x", ALPHA: "y" }, delete: ["BETA"] }
    const refused = [
      await patch({ ...whole, delete: ["BETA", "ALPHA"] }),
      await patch({ ...whole, set: { ...whole.set, "not a key": "z" } }),
      await patch({ ...whole, set: { ...whole.set, LARGE: "x".repeat(65_537) } }),
      await patch({ set: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`K${i}`, "v"])) })
    ]
    for (const answer of refused) assertRefused(answer, 400, "VALIDATION_ERROR")
    assert.match(refused[0]!.body.error.message, /^ALPHA: is both in set and in delete/)
    assert.strictEqual((await read()).text, before.text)
  })

  it("writes nothing when it would pass the limits of an environment", async () => {
    const before = await read()
    const value = "x".repeat(65_536)
    const set = Object.fromEntries(Array.from({ length: 128 }, (_, i) => [`BIG_${i}`, value]))
    assertRefused(await patch({ set }), 409, "LIMIT_EXCEEDED", /8 MiB/)
    const many = Object.fromEntries(Array.from({ length: 1999 }, (_, i) => [`MANY_${i}`, ""]))
    assertRefused(await patch({ set: many }), 409, "LIMIT_EXCEEDED", /2000 secrets|2,000 secrets/)
    assert.strictEqual((await read()).text, before.text)
  })

  it("shows what it would do without doing it", async () => {
    const before = await read()
    const dry = await patch({ set: { ALPHA: "changed", NEW: "x" }, delete: ["BETA"], dry_run: true })
    assert.deepStrictEqual(changes(dry), [
      ["ALPHA", 2, "updated"],
      ["BETA", 2, "deleted"],
      ["NEW", 1, "created"]
    ])
    assert.strictEqual(dry.body.revision, before.body.revision)
    assert.notInclude(dry.text, "changed")
    assert.strictEqual((await read()).text, before.text)
  })

  it("that changes nothing makes no revision", async () => {
    const before = await read()
    const same = await patch({ set: { ALPHA: "1", BETA: "two" } })
    assert.deepStrictEqual(changes(same), [
      ["ALPHA", 1, "unchanged"],
      ["BETA", 2, "unchanged"]
    ])
    assert.strictEqual(same.body.revision, before.body.revision)
    assert.deepStrictEqual((await patch({})).body, { revision: before.body.revision, data: [] })
    assert.strictEqual(etagOf(await read()), etagOf(before))
  })

  it("is written only over the state that If-Match names", async () => {
    const stale = etagOf(await read())
    const written = await patch({ set: { MATCH: "1" } }, { "if-match": stale })
    assert.strictEqual(written.status, 200, written.text)
    assertRefused(await patch({ set: { MATCH: "2" } }, { "if-match": stale }), 409, "CONFLICT")
    assertRefused(await patch({ set: { MATCH: "2" }, dry_run: true }, { "if-match": stale }), 409, "CONFLICT")
    assert.strictEqual(etagOf(await read()), etagOf(written))
    assert.strictEqual((await patch({ set: { MATCH: "2" } }, { "if-match": etagOf(written) })).status, 200)
    assert.strictEqual((await patch({ delete: ["MATCH"] }, { "if-match": "*" })).status, 200)
  })

  it("is answered 304 without a body while nothing has changed", async () => {
    const etag = etagOf(await read())
    assert.match(etag, /^"[\x21\x23-\x7e]+"$/)
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const same = await read("", { "if-none-match": header })
      assert.deepStrictEqual([same.status, same.text, etagOf(same)], [304, "", etag])
    }
    assert.strictEqual((await read("", { "if-none-match": `"other"` })).status, 200)
    await done(200, "PUT", `${secrets}/ALPHA`, { body: { value: "1" } })
    const changed = await read("", { "if-none-match": etag })
    assert.strictEqual(changed.status, 200)
    assert.notStrictEqual(etagOf(changed), etag)
    await done(200, "PUT", `${secrets}/BRIEF`, { body: { value: "1" } })
    await done(204, "DELETE", `${secrets}/BRIEF`)
    assert.notStrictEqual(etagOf(await read()), etagOf(changed))
  })

  it("is narrowed to some keys, all of which have to be there", async () => {
    const { body } = await read("?keys=BETA,ALPHA,BETA")
    assert.deepStrictEqual(
      body.data.map(({ key }: Json) => key),
      ["ALPHA", "BETA"]
    )
    assertRefused(await read("?keys=ALPHA,ABSENT"), 404, "NOT_FOUND", /ABSENT/)
  })

  it("carries keys that are names of an object's own machinery", async () => {
    const raw = `{"set":{"__proto__":"p","constructor":"c","toString":"t"}}`
    const written = await call("PATCH", bundle, { raw })
    assert.deepStrictEqual(changes(written), [
      ["__proto__", 1, "created"],
      ["constructor", 1, "created"],
      ["toString", 1, "created"]
    ])
    const { body } = await read("?keys=__proto__,constructor,toString")
    assert.deepStrictEqual(
      body.data.map(({ value }: Json) => value),
      ["p", "c", "t"]
    )
    assert.strictEqual((await patch({ delete: ["__proto__", "constructor", "toString"] })).status, 200)
  })

  it("of the largest size goes in and comes out", async () => {
    await made("POST", "/api/orgs/acme/projects/webshop/envs", { name: "large" })
    const path = "/api/orgs/acme/projects/webshop/envs/large/bundle"
    const set = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`KEY_${String(i).padStart(4, "0")}`, `${i}`.repeat(1000)])
    )
    const written = await done(200, "PATCH", path, { body: { set } })
    assert.lengthOf(written.data, 2000)
    const { data } = await done(200, "GET", path)
    assert.deepStrictEqual(Object.fromEntries(data.map(({ key, value }: Json) => [key, value])), set)
    const more = await call("PUT", "/api/orgs/acme/projects/webshop/envs/large/secrets/ONE_MORE", {
      body: { value: "" }
    })
    assertRefused(more, 409, "LIMIT_EXCEEDED")
  })
})

describe("health", () => {
  it("is told to anybody, and so is the contract", async () => {
    for (const path of ["/health", "/health/ready"]) {
      assert.deepStrictEqual(await done(200, "GET", path, { token: undefined }), { status: "ok" })
    }
    const document = await done(200, "GET", "/openapi.json", { token: undefined })
    assert.strictEqual(document.openapi, "3.1.0")
    assert.notInclude(JSON.stringify(document), "HttpApiDecodeError")
  })
})
