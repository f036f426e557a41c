import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../../server/test/federations/Issuer.js"
import { Upstream } from "../../server/test/use/Upstream.js"
import { Service } from "./support/Service.js"

// The tool server of a real server, with a request that lasts.

const canary = "sk_live_CanaryOfTheSlowHost"
const origin = "https://agents.example.com"
const folder = mkdtempSync(join(tmpdir(), "coffer-remote-"))
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

let provider: Upstream
let service: Service
let key: string
let arrived: (response: ServerResponse) => void

beforeAll(async () => {
  const certificate = certificateFor("localhost")
  writeFileSync(join(folder, "ca.pem"), certificate.cert)
  provider = await Upstream.start(certificate)
  provider.answer = (response) => arrived(response)
  service = await Service.start({
    SERVICE_BROKER: "1",
    SERVICE_MCP_ORIGINS: origin,
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
  })
  key = (await service.account("agent", "use", { reveal: false })).key
  const secrets = "/api/orgs/acme/projects/shop/envs/dev/secrets"
  await service.request("PUT", `${secrets}/SLOW_KEY`, { value: canary })
  await service.post(`${secrets}/SLOW_KEY/use-rules`, {
    hosts: [`localhost:${provider.port}`],
    paths: ["/slow"],
    methods: ["GET"],
    place: { in: "header", name: "authorization", format: "Bearer {}" },
    accounts: ["agent"],
    response: "json"
  })
})
afterAll(async () => {
  await service.stop()
  await provider.stop()
  rmSync(folder, { recursive: true, force: true })
})

const slow = () => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: {
    name: "http_request",
    arguments: { method: "GET", url: `https://localhost:${provider.port}/slow`, secrets: ["SLOW_KEY"] }
  }
})

/** The same call in both eras. */
const calls = () => [
  { body: slow(), headers: {} },
  {
    body: { ...slow(), params: { ...slow().params, _meta: envelope } },
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "http_request" }
  }
]

const post = (body: object, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
  fetch(`${service.url}/mcp?project=shop&env=dev&use=1`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${key}`,
      ...headers
    },
    body: JSON.stringify(body),
    ...(signal && { signal })
  })

describe("the tool server of a real server", () => {
  it("keeps the response of a long call alive by comments, in both eras", async () => {
    const waiting: Array<ServerResponse> = []
    arrived = (response) => void waiting.push(response)
    const responses = await Promise.all(calls().map(({ body, headers }) => post(body, headers)))
    // Each response has begun with a comment, while its request still waits.
    assert.lengthOf(waiting, 2)
    for (const held of waiting) {
      held.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ key: canary }))
    }
    for (const response of responses) {
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      assert.match(response.headers.get("cache-control") ?? "", /^no-store/)
      const text = await response.text()
      assert.match(text, /^: ?keep-?alive/)
      assert.include(text, "[scrubbed]")
      assert.notInclude(text, canary)
    }
  })

  it("ends the request of a call whose response the host closes, in both eras", async () => {
    for (const { body, headers } of calls()) {
      const held = new Promise<ServerResponse>((resolve) => {
        arrived = resolve
      })
      const abort = new AbortController()
      const call = post(body, headers, abort.signal).catch(() => undefined)
      const response = await held
      const begun = performance.now()
      abort.abort()
      await Promise.all([once(response, "close"), call])
      assert.isBelow(performance.now() - begun, 10_000)
    }
  })

  it("lets pages of the named origins read responses, and no others", async () => {
    const asked = await fetch(`${service.url}/mcp`, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" }
    })
    assert.strictEqual(asked.headers.get("access-control-allow-origin"), origin)
    assert.match(asked.headers.get("access-control-allow-headers") ?? "", /Mcp-Method/)
    const foreign = await fetch(`${service.url}/mcp`, {
      method: "OPTIONS",
      headers: { origin: "https://evil.example.com", "access-control-request-method": "POST" }
    })
    assert.strictEqual(foreign.status, 403)
    assert.isNull(foreign.headers.get("access-control-allow-origin"))
  })

  it("refuses a larger body than any call takes", async () => {
    const response = await post({ jsonrpc: "2.0", id: 1, method: "x".repeat(70 * 1024 * 1024) }).catch(() => undefined)
    assert.include([413, undefined], response?.status)
  })

  it("does not exist with SERVICE_MCP=off", async () => {
    const other = await Service.start({ SERVICE_MCP: "off" })
    assert.strictEqual((await other.program.call("POST", "/mcp", { body: {} })).status, 404)
    await other.stop()
  })

  it("answers the official client, and gives a value in secret_get alone", async () => {
    const reader = (await service.account("reader", "read")).key
    const client = new Client({ name: "test", version: "0" }, { versionNegotiation: { mode: "auto" } })
    const requestInit = { headers: { authorization: `Bearer ${reader}` } }
    const address = new URL(`${service.url}/mcp?project=shop&env=dev`)
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }))
    assert.strictEqual(client.getProtocolEra(), "modern")
    const { tools } = await client.listTools()
    assert.lengthOf(tools, 15)
    for (const { name } of tools.filter(({ annotations }) => annotations?.readOnlyHint === true)) {
      const result = JSON.stringify(
        await client.callTool({ name, arguments: name === "secret_get" ? { key: "SLOW_KEY" } : {} })
      )
      assert.strictEqual(result.includes(canary), name === "secret_get", name)
    }
    await client.close()
    assert.notInclude(service.program.log, canary)
  })
})
