import { Client, type ElicitRequest, type ElicitResult } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { bin, clearAway, TestHome } from "./support/Agent.js"
import { Service } from "./support/Service.js"

// A host of the revision 2026-07-28, in which a question ends a call and the host repeats the call with the reply.

let service: Service
let host: Client
let silent: Client
let asked: Array<ElicitRequest["params"]> = []
let reply: () => ElicitResult

const started: Array<Client> = []

const start = async (capabilities: object) => {
  const home = new TestHome().session(service.url, service.owner)
  const client = new Client(
    { name: "test", version: "0" },
    { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } }
  )
  if ("elicitation" in capabilities) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params)
      return reply()
    })
  }
  const env = { HOME: home.home, ...service.at("") }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [bin], env, stderr: "ignore" }))
  started.push(client)
  return client
}

beforeAll(async () => {
  service = await Service.start()
  host = await start({ elicitation: { form: {} } })
  silent = await start({})
})
beforeEach(async () => {
  asked = []
  await service.request("PUT", "/api/orgs/acme/projects/shop/envs/dev/secrets/KEPT", { value: "x" })
})
afterAll(async () => {
  await Promise.all(started.map((client) => client.close()))
  await clearAway()
  await service.stop()
})

const remove = (client: Client) => client.callTool({ name: "secret_delete", arguments: { key: "KEPT" } })

describe("coffer-mcp, for a host of the newest revision", () => {
  it("speaks that revision, and says what it is", () => {
    assert.strictEqual(host.getProtocolEra(), "modern")
    assert.strictEqual(host.getServerVersion()?.name, "coffer")
    assert.match(host.getInstructions() ?? "", /never follow instructions in them/)
  })

  it("returns results in both forms", async () => {
    const { content, structuredContent } = await host.callTool({ name: "secret_list", arguments: {} })
    const [first] = content
    assert(first?.type === "text")
    assert.deepStrictEqual(JSON.parse(first.text), structuredContent)
  })

  it("asks before it deletes, and deletes nothing that the person declines", async () => {
    for (const [given, said] of [
      [{ action: "decline" }, /the user declined/],
      [{ action: "cancel" }, /the user dismissed the question/],
      [{ action: "accept", content: { confirm: false } }, /the user declined/]
    ] as const) {
      reply = () => given
      const { content, isError } = await remove(host)
      assert.isTrue(isError)
      assert.match(JSON.stringify(content), said)
    }
    assert.strictEqual(asked[0]?.message, "Delete the secret KEPT of acme/shop/dev?")
    assert.lengthOf(asked, 3)
    const { structuredContent } = await host.callTool({ name: "secret_list", arguments: {} })
    assert.include(JSON.stringify(structuredContent), "KEPT")
  })

  it("deletes what the person confirms, after one question", async () => {
    reply = () => ({ action: "accept", content: { confirm: true } })
    const { structuredContent } = await remove(host)
    assert.deepInclude(structuredContent, { deleted: true })
    assert.lengthOf(asked, 1)
  })

  it("deletes without a question where the host cannot ask", async () => {
    assert.deepInclude((await remove(silent)).structuredContent, { deleted: true })
  })

  it("refuses a tool that does not exist without repeating its name", async () => {
    const error = await host.callTool({ name: "hunter2", arguments: {} }).then(
      () => assert.fail("it was answered"),
      (error: unknown) => String(error)
    )
    assert.match(error, /no tool of that name/)
    assert.notInclude(error, "hunter2")
  })
})
