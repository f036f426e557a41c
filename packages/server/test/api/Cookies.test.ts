import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Browser } from "../support/Browser.js"
import { type Json, Program } from "../support/Program.js"

const cors = "https://app.example.com"
let program: Program
let reader: Browser

beforeAll(async () => {
  program = await Program.start({ CORS_ALLOWED_ORIGINS: cors, SERVICE_PUBLIC_URL: "http://localhost:7100" })
  reader = new Browser(program.url)
  const code = await program.codeFor("ada@example.com")
  const answer = await reader.call("POST", "/api/auth/verify", { email: "ada@example.com", code, session: "cookie" })
  assert.strictEqual(answer.status, 204, answer.text)
  assert.strictEqual(answer.text, "")
})
afterAll(async () => {
  await program.remove()
})

/** As time goes by: each session is that much older. */
const age = async (minutes: number) => {
  const born = new Date(Date.now() - minutes * 60_000).toISOString()
  await program.execute(`UPDATE sessions SET created_at = '${born}', proven_at = '${born}'`)
}

const me = (headers: Readonly<Record<string, string>> = {}) => reader.call("GET", "/api/auth/me", undefined, headers)

describe("a cookie that a browser sends", () => {
  it("counts for a script of the server's own pages", async () => {
    assert.deepInclude((await me()).body, { type: "user", email: "ada@example.com" })
  })

  it.each([
    ["a cross-site request", { "sec-fetch-site": "cross-site", origin: "https://evil.example.com" }],
    ["a form of another site", { "sec-fetch-site": "cross-site", "x-coffer": "" }],
    ["a form of the server's own origin", { "x-coffer": "" }],
    ["a script of another port", { "sec-fetch-site": "same-site", origin: "http://localhost:5173" }],
    ["a script that CORS lets in", { "sec-fetch-site": "cross-site", origin: cors }],
    ["a script that CORS lets in and claims to be of this origin", { origin: cors }]
  ])("is as if it were not there for %s", async (_what, headers) => {
    const answer = await me(headers)
    assert.strictEqual(answer.status, 401, answer.text)
    assert.isFalse(answer.headers.has("access-control-allow-credentials"))
  })

  it("is refused beside another credential, whichever is right", async () => {
    const token = await program.login("bob@example.com")
    for (const other of [{ authorization: `Bearer ${token}` }, { authorization: "x" }, { "x-api-key": "x" }]) {
      const answer = await me(other)
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(answer.body.error.code, "VALIDATION_ERROR")
      assert.include(answer.body.error.message, "send one credential")
    }
    const ignored = await me({ authorization: `Bearer ${token}`, "x-coffer": "" })
    assert.deepInclude(ignored.body, { email: "bob@example.com" }, "a cookie that does not count is as if not there")
  })

  it("lets no preflight of another origin send X-Coffer", async () => {
    const answer = await reader.open("/api/auth/me", {
      method: "OPTIONS",
      headers: { origin: cors, "access-control-request-method": "GET", "access-control-request-headers": "x-coffer" }
    })
    const allowed = answer.headers.get("access-control-allow-headers") ?? ""
    assert.notInclude(allowed.toLowerCase().split(/\s*,\s*/), "x-coffer")
  })

  it("lets a preflight of an origin that CORS lets in send every header of the contract", async () => {
    const { body: document } = await reader.call("GET", "/openapi.json")
    const named = Object.values<Json>(document.paths)
      .flatMap((path: Json) => Object.values<Json>(path))
      .flatMap(({ parameters = [] }: Json) => parameters as ReadonlyArray<Json>)
      .flatMap((parameter: Json) => (parameter.in === "header" ? [String(parameter.name).toLowerCase()] : []))
    const { headers } = await reader.open("/api/auth/me", {
      method: "OPTIONS",
      headers: { origin: cors, "access-control-request-method": "PUT" }
    })
    const allowed = (headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/\s*,\s*/)
    const others = ["authorization", "x-api-key", "content-type", "x-request-id"]
    assert.sameMembers(allowed, [...new Set([...named, ...others])])
    assert.includeMembers(allowed, ["if-match", "if-none-match", "prefer", "x-coffer-reason", "x-coffer-break-glass"])
  })

  it("needs a login from the last 15 minutes for what is most sensitive, and says so before anything happens", async () => {
    const done = async (method: string, path: string, body?: unknown) => {
      const { body: answer, status } = await reader.call(method, path, body)
      return `${status} ${answer?.error?.code ?? ""}`.trim()
    }
    await reader.call("POST", "/api/orgs", { name: "acme" })
    await reader.call("POST", "/api/orgs/acme/projects", { name: "shop" })
    await reader.call("POST", "/api/orgs/acme/projects/shop/envs", { name: "dev" })
    await reader.call("POST", "/api/orgs/acme/groups", { name: "backend" })
    const { body: account } = await reader.call("POST", "/api/orgs/acme/service-accounts", { name: "bot" })
    const rule = { subject_type: "service_account", subject_id: account.id, project_pattern: "*", env_pattern: "*" }
    await age(14)
    assert.strictEqual(await done("POST", "/api/orgs/acme/acl", { ...rule, permission: "admin" }), "201")
    await age(15)
    assert.strictEqual(await done("GET", "/api/orgs/acme"), "200")
    assert.strictEqual(await done("PUT", "/api/orgs/acme/projects/shop/envs/dev/secrets/KEY", { value: "1" }), "200")
    const eve = (email: string, role?: string) => ({
      email: `${email}@example.com`,
      ...(role !== undefined && { role })
    })
    const project = "/api/orgs/acme/projects/shop"
    const nobody = "1d0ff09c-8e94-4b9d-a4f7-57d81d33f9d5"
    for (const [method, path, body] of [
      ["POST", "/api/orgs/acme/acl", { ...rule, permission: "admin" }],
      ["POST", "/api/orgs/acme/acl", { ...rule, permission: "write" }],
      ["POST", "/api/orgs/acme/acl", { ...rule, permission: "read" }],
      ["POST", "/api/orgs/acme/acl", { ...rule, permission: "use" }],
      ["POST", "/api/orgs/acme/members", eve("eve")],
      ["POST", "/api/orgs/acme/members", eve("evan", "developer")],
      ["PATCH", "/api/orgs/acme", { name: "other" }],
      ["PATCH", "/api/orgs/acme/groups/backend", { name: "other" }],
      ["DELETE", "/api/orgs/acme/groups/backend"],
      ["POST", "/api/orgs/acme/members", eve("mallory", "owner")],
      ["POST", "/api/orgs/acme/members", eve("mallory", "admin")],
      ["PATCH", `/api/orgs/acme/members/${nobody}`, { role: "member" }],
      ["POST", "/api/orgs/acme/service-accounts", { name: "other" }],
      ["PATCH", `/api/orgs/acme/service-accounts/${account.id}`, { allowed_networks: null }],
      ["POST", `/api/orgs/acme/service-accounts/${account.id}/rotate`, {}],
      ["DELETE", `/api/orgs/acme/service-accounts/${account.id}`],
      ["DELETE", `${project}/envs/dev`],
      ["PATCH", project, { name: "prod" }],
      ["DELETE", project],
      ["DELETE", "/api/orgs/acme"],
      ["POST", `/api/users/${nobody}/disable`],
      ["POST", `/api/users/${nobody}/enable`],
      ["POST", "/api/backups"]
    ] as const) {
      assert.strictEqual(await done(method, path, body), "403 REAUTHENTICATE", `${method} ${path}`)
    }
    const token = await program.login("ada@example.com")
    await age(15)
    const byToken = await program.call("POST", "/api/orgs/acme/service-accounts", { token, body: { name: "third" } })
    assert.strictEqual(byToken.status, 201, "a session with a token is not affected")
    const rename = { token, body: { name: "acme-inc" } }
    assert.strictEqual((await program.call("PATCH", "/api/orgs/acme", rename)).status, 200)
  })

  it("is cleared by a logout, which ends the session", async () => {
    const value = reader.cookies.get("coffer") ?? ""
    const answer = await reader.call("DELETE", "/api/auth/logout")
    assert.strictEqual(answer.status, 204)
    assert.isFalse(reader.cookies.has("coffer"))
    reader.cookies.set("coffer", value)
    assert.strictEqual((await me()).status, 401)
  })
})

describe("a session for a browser", () => {
  it("is refused over plain HTTP before the code is used up", async () => {
    const plain = await Program.start()
    const code = await plain.codeFor("ada@example.com")
    const body = { email: "ada@example.com", code, session: "cookie" }
    const remote = await plain.call("POST", "/api/auth/verify", { body, headers: { "x-real-ip": "192.0.2.1" } })
    assert.strictEqual(remote.status, 400)
    assert.include(remote.body.error.message, "needs https")
    const local = await plain.call("POST", "/api/auth/verify", { body })
    assert.strictEqual(local.status, 204)
    await plain.remove()
  })
})

describe("GET /api/auth/methods", () => {
  it("tells what is on, without a credential", async () => {
    assert.deepStrictEqual((await program.call("GET", "/api/auth/methods")).body, {
      email: true,
      provider: null,
      public_url: "http://localhost:7100"
    })
  })
})
