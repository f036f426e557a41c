import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { bin, type Variables } from "./support/Agent.js"

const variants: Readonly<Record<string, Variables>> = {
  default: {},
  all: { SERVICE_MCP_EXTRA: "1", SERVICE_MCP_USE: "1" },
  "no-values": { SERVICE_MCP_REVEAL: "0", SERVICE_MCP_READ_ONLY: "1" }
}

const clientInfo = { name: "test", version: "0" }

const handshake = (protocolVersion: string) => [
  { id: 1, method: "initialize", params: { protocolVersion, capabilities: {}, clientInfo } },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" }
]

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {}
}

/** The messages of a host that lists the tools, by the revision that it speaks. */
const hosts: Readonly<Record<string, ReadonlyArray<object>>> = {
  "2025-06-18": handshake("2025-06-18"),
  "2025-11-25": handshake("2025-11-25"),
  "2026-07-28": [{ id: 2, method: "tools/list", params: { _meta: envelope } }]
}

const golden = (era: string, variant: string) =>
  readFileSync(new URL(`golden/tools-${era}-${variant}.txt`, import.meta.url), "utf8")

/** The line of the response, with the version of the program left out. */
const lineOf = (messages: ReadonlyArray<object>, env: Variables): string => {
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")
  const { stdout } = spawnSync(process.execPath, [bin], { env, input, encoding: "utf8" })
  const line = stdout.split("\n").find((each) => each.includes('"id":2')) ?? assert.fail(stdout)
  return `${line.replace(/"version":"[^"]*"/, '"version":""')}\n`
}

describe("tools/list", () => {
  for (const [revision, messages] of Object.entries(hosts)) {
    it(`is the same to the byte in revision ${revision}, whatever the settings leave out`, () => {
      for (const [variant, env] of Object.entries(variants)) {
        assert.strictEqual(lineOf(messages, env), golden(revision.slice(0, 4), variant), variant)
      }
    })
  }

  it("has the same tools in every revision, and in the newest says for how long and for whom it holds", () => {
    for (const variant of Object.keys(variants)) {
      const { result: older } = JSON.parse(golden("2025", variant))
      const { result: newer } = JSON.parse(golden("2026", variant))
      assert.strictEqual(JSON.stringify(newer.tools), JSON.stringify(older.tools))
      assert.strictEqual(newer.resultType, "complete")
      assert.strictEqual(newer.ttlMs, 3_600_000)
      assert.strictEqual(newer.cacheScope, "public")
    }
  })
})
