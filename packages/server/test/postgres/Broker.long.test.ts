import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../federations/Issuer.js"
import { cleanUp, freshFolder, type Json, Program } from "../support/Program.js"
import { Upstream } from "../use/Upstream.js"

const dev = "/api/orgs/acme/projects/shop/envs/dev"

let upstream: Upstream
let server: Program
let broker: Program
let other: Program
let token: string
let key: string

const do_ = async (method: string, path: string, body: unknown): Promise<Json> => {
  const answer = await server.call(method, path, { token, body })
  assert.isBelow(answer.status, 300, answer.text)
  return answer.body
}

beforeAll(async () => {
  const certificate = certificateFor("localhost")
  upstream = await Upstream.start(certificate)
  const folder = freshFolder()
  writeFileSync(join(folder, "ca.pem"), certificate.cert)
  const address = "https://broker.example.com"
  server = await Program.start({ SERVICE_BROKER_URL: address, SUPERADMIN_EMAIL_0: "ada@example.com" }, folder)
  const settings = {
    SMTP_HOST: undefined,
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
  }
  broker = await Program.start(settings, folder, undefined, ["broker"])
  other = await Program.start(settings, folder, undefined, ["broker"])
  token = await server.login("ada@example.com")
  await do_("POST", "/api/orgs", { name: "acme" })
  await do_("POST", "/api/orgs/acme/projects", { name: "shop" })
  const { api_key, id } = await do_("POST", "/api/orgs/acme/service-accounts", { name: "agent", reveal: false })
  key = api_key
  const rule = { subject_type: "service_account", subject_id: id, permission: "use" }
  await do_("POST", "/api/orgs/acme/acl", { ...rule, project_pattern: "*", env_pattern: "*" })
  await do_("PUT", `${dev}/secrets/API_KEY`, { value: "sk_live_Canary7" })
  await do_("POST", `${dev}/secrets/API_KEY/use-rules`, {
    hosts: [`localhost:${upstream.port}`],
    paths: ["/v1/*"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"]
  })
  await do_("POST", `${dev}/secrets/API_KEY/use-rules`, {
    hosts: [`localhost:${upstream.port}`],
    paths: ["/few"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"],
    per_minute: 6_000,
    per_day: 20
  })
})

afterAll(async () => {
  await broker.stop()
  await other.stop()
  await server.stop()
  await upstream.stop()
  cleanUp()
})

describe("coffer-server broker", () => {
  const use = (program: Program, path = "/v1/x") =>
    program.call("POST", `${dev}/use`, {
      headers: { "x-api-key": key },
      body: { method: "GET", url: `https://localhost:${upstream.port}${path}`, secrets: ["API_KEY"] }
    })

  it("makes requests beside a server, which names the broker and makes no request", async () => {
    const refused = await use(server)
    assert.strictEqual(refused.body.error.code, "BROKER_DISABLED")
    assert.include(refused.body.error.message, "https://broker.example.com")
    const answer = await use(broker)
    assert.strictEqual(answer.status, 200, answer.text)
    assert.include(answer.body.body, "Bearer [scrubbed]")
    assert.strictEqual(upstream.arrived[0]?.headers.authorization, "Bearer sk_live_Canary7")
  })

  it("does nothing else, and changes nothing of the server's", async () => {
    for (const [method, path] of [
      ["GET", `${dev}/secrets/API_KEY`],
      ["GET", "/api/orgs"],
      ["POST", "/api/backups"]
    ] as const) {
      const answer = await broker.call(method, path, { token })
      assert.strictEqual(answer.status, 404, path)
      assert.match(answer.body.error.message, /coffer-server broker/)
    }
    assert.strictEqual(
      (await broker.call("POST", "/api/auth/login", { body: { email: "ada@example.com" } })).status,
      404
    )
    assert.strictEqual((await broker.call("GET", "/login")).status, 404)
    assert.strictEqual((await broker.call("GET", "/health/ready")).status, 200)
    assert.strictEqual((await server.call("GET", "/api/users", { token })).status, 200, "still a superadmin")
    assert.notMatch(broker.log, /login codes? (?:for|are)/)
  })

  it("counts the budget exactly under 50 at once on two brokers", async () => {
    const before = upstream.arrived.length
    /** Repeats what was refused because of others: 4 requests of an account are in flight at most. */
    const insist = async (program: Program): Promise<number> => {
      const { body, status, text } = await use(program, "/few")
      if (status === 200) return status
      if (status === 429 && /allows 20 requests a day/.test(body.error.message)) return status
      assert.match(text, /in flight|all slots|nothing was changed/)
      await new Promise((resolve) => setTimeout(resolve, 300))
      return insist(program)
    }
    const statuses = await Promise.all(Array.from({ length: 50 }, (_, index) => insist(index % 2 ? broker : other)))
    assert.deepStrictEqual(
      statuses.filter((status) => status === 200),
      Array.from({ length: 20 }, () => 200)
    )
    assert.strictEqual(upstream.arrived.length - before, 20)
  })
})
