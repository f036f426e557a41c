import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ElicitRequest, ElicitationCompleteNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { certificateFor } from "../../server/test/federations/Issuer.js"
import { Upstream } from "../../server/test/use/Upstream.js"
import { Agent, clearAway } from "./support/Agent.js"
import { Service } from "./support/Service.js"

// An agent that refunds a charge at a payment provider with a key that it never sees.

const canary = "sk_live_CanaryOfRefunds"
const dev = "/api/orgs/acme/projects/shop/envs/dev"
const folder = mkdtempSync(join(tmpdir(), "coffer-use-"))

let provider: Upstream
let service: Service
let agent: Agent
let key: string
let address: string

beforeAll(async () => {
  const certificate = certificateFor("localhost")
  writeFileSync(join(folder, "ca.pem"), certificate.cert)
  provider = await Upstream.start(certificate)
  address = `https://localhost:${provider.port}`
  const refunds: Array<unknown> = []
  provider.answer = (response, { body, headers, method, url }) => {
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    if (headers.authorization !== `Bearer ${canary}`) return send(401, { error: `no key ${headers.authorization}` })
    if (method === "POST") {
      refunds.push({ id: `re_${refunds.length + 1}`, ...Object.fromEntries(new URLSearchParams(body)), key: canary })
    }
    return send(200, url.startsWith("/v1/refunds") ? { data: refunds } : {})
  }
  service = await Service.start({
    SERVICE_BROKER: "1",
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
  })
  key = (await service.account("agent", "use", { reveal: false })).key
  await service.request("PUT", `${dev}/secrets/STRIPE_KEY`, { value: canary })
  const rule = {
    hosts: [`localhost:${provider.port}`],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"],
    response: "json"
  }
  const rules = `${dev}/secrets/STRIPE_KEY/use-rules`
  await service.post(rules, { ...rule, paths: ["/v1/refunds"], methods: ["GET"] })
  await service.post(rules, { ...rule, paths: ["/v1/refunds"], methods: ["POST"], approval: "each" })
  agent = await Agent.start(service.at(key, { SERVICE_MCP_USE: "1" }))
})

afterAll(async () => {
  await clearAway()
  await service.stop()
  await provider.stop()
  rmSync(folder, { recursive: true, force: true })
})

const refund = (charge: string) => ({
  method: "POST",
  url: `${address}/v1/refunds`,
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: `charge=${charge}`,
  secrets: ["STRIPE_KEY"]
})

describe("an agent with SERVICE_MCP_USE=1", () => {
  it("does a whole task with a key that it never sees", async () => {
    const { tools } = await agent.client.listTools()
    const names = tools.map(({ name }) => name)
    assert.includeMembers(names, ["http_request", "secret_uses"])
    assert.isTrue(tools.find(({ name }) => name === "http_request")?.annotations?.openWorldHint)

    const { data } = await agent.use("secret_uses")
    assert.lengthOf(data, 2)
    const before = await agent.use("http_request", {
      method: "GET",
      url: `${address}/v1/refunds`,
      secrets: ["STRIPE_KEY"]
    })
    assert.strictEqual(before.body, '{"data":[]}')

    const wrong = await agent.refused(
      "http_request",
      { method: "GET", url: `${address}/v1/payouts`, secrets: ["STRIPE_KEY"] },
      "USE_REFUSED"
    )
    assert.match(wrong, /path \/v1\/payouts is in no rule of STRIPE_KEY/)

    const text = await agent.refused("http_request", refund("ch_1"), "APPROVAL_NEEDED")
    const [, id = ""] = /coffer request approve (\S+);/.exec(text) ?? []
    const pending = await service.request("GET", "/api/orgs/acme/approvals")
    assert.strictEqual(pending.data[0].id, id)
    assert.strictEqual(pending.data[0].body, "charge=ch_1")
    await service.post(`/api/orgs/acme/approvals/${id}/approve`, undefined)

    const made = await agent.use("http_request", refund("ch_1"))
    assert.strictEqual(made.status, 200)
    assert.include(made.body, '"charge":"ch_1","key":"[scrubbed]"')
    await agent.refused("http_request", refund("ch_1"), "APPROVAL_NEEDED")

    agent.assertProtocol()
    assert.notInclude(agent.out + agent.log, canary)
    await agent.refused("secret_get", { key: "STRIPE_KEY" }, "FORBIDDEN")
  })

  it("sends the person to the page of the approval, where the host opens pages", async () => {
    const asked: Array<ElicitRequest["params"]> = []
    const decide = (verb: string) => {
      const { url } = asked.at(-1) as { readonly url: string }
      const id = new URL(url).searchParams.get("id")
      assert.strictEqual(url, `${service.url}/-/org/acme/-/approvals?id=${id}`)
      return service.post(`/api/orgs/acme/approvals/${id}/${verb}`, undefined)
    }
    let reply: () => "accept" | "decline" | "cancel" = () => "accept"
    let verb = "approve"
    const host = await Agent.start(
      service.at(key, { SERVICE_MCP_USE: "1" }),
      undefined,
      async (question) => {
        asked.push(question)
        const action = reply()
        if (action === "accept") await decide(verb)
        return { action }
      },
      { url: {} }
    )
    const completed = new Promise<string>((resolve) => {
      host.client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
        resolve(params.elicitationId)
      })
    })
    const made = await host.use("http_request", refund("ch_2"))
    assert.include(made.body, '"charge":"ch_2","key":"[scrubbed]"')
    const [first] = asked
    assert(first !== undefined && first.mode === "url")
    assert.strictEqual(first.message, `Approve POST ${address}/v1/refunds with STRIPE_KEY of acme/shop/dev?`)
    assert.strictEqual(await completed, first.elicitationId)

    verb = "refuse"
    assert.match(await host.refused("http_request", refund("ch_3"), "USE_REFUSED"), /a person refused this request/)
    reply = () => "decline"
    await host.refused("http_request", refund("ch_4"), "NOT_CONFIRMED")
    reply = () => "cancel"
    await host.refused("http_request", refund("ch_5"), "APPROVAL_NEEDED")
    assert.notInclude(host.out + host.log + JSON.stringify(asked), canary)
    assert.lengthOf(asked, 4)
  })
})
