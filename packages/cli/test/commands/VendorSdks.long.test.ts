/**
 * The SDKs of vendors behind the proxy, as an agent's program has them. They are no dependencies: `COFFER_SDKS` is a folder with
 * `node_modules` (`npm i openai @anthropic-ai/sdk stripe`), `python` (`pip install --target python openai anthropic stripe`) and
 * GitHub's command line, `bin/gh`.
 */
import { lookup } from "node:dns/promises"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../../../server/test/federations/Issuer.js"
import { type Arrived, Upstream } from "../../../server/test/use/Upstream.js"
import { node } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const sdks = process.env["COFFER_SDKS"] ?? ""
const has = (name: string) => sdks !== "" && existsSync(join(sdks, name))
const folder = mkdtempSync(join(tmpdir(), "coffer-sdks-"))
/** Programs in Go send what is for localhost past every proxy. Null if no other name leads here. */
const named = await lookup(hostname()).then(
  ({ address }) => (address.startsWith("127.") ? hostname().toLowerCase() : null),
  () => null
)
const certificate = certificateFor("localhost", ...(named === null ? [] : [named]))
writeFileSync(join(folder, "ca.pem"), certificate.cert)

const value = "sk_live_CanaryOfVendors"

const place = workplace("ada@example.com", () => ({
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
}))

let api: Upstream
let agent: Readonly<Record<string, string>>

/** Events, each of which has the value across two parts. */
const events = (response: ServerResponse, ...texts: ReadonlyArray<string>) => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const text of texts) {
    const at = text.indexOf(value) + 9
    response.write(text.slice(0, at))
    response.write(text.slice(at))
  }
  response.end()
}

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`

/** A server of GitHub, by https://docs.github.com/en/rest/users/users and https://docs.github.com/en/graphql/reference/queries. */
const github = (url: string, body: string) => {
  if (url.endsWith("/user")) return { login: "ada", id: 1 }
  if (body.includes("__type")) return { data: { Issue: { fields: [] } } }
  const labels = { nodes: [], totalCount: 0 }
  const nodes = [{ number: 7, title: "It leaks", state: "OPEN", updatedAt: "2026-01-31T12:00:00Z", labels }]
  const issues = { totalCount: 1, nodes, pageInfo: { hasNextPage: false, endCursor: "" } }
  return { data: { repository: { hasIssuesEnabled: true, issues } } }
}

/** The stand-in of the vendors, which checks the key. */
const answer = (response: ServerResponse, { body, headers, url }: Arrived) => {
  const json = (status: number, record: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(record))
  if (headers.authorization !== `Bearer ${value}`) return json(401, { error: { message: "a wrong key" } })
  if (url.startsWith("/api/")) return json(200, github(url, body))
  if (url.startsWith("/v1/messages")) {
    const message = { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null }
    const delta = { index: 0, delta: { type: "text_delta", text: `hello ${value}` } }
    return events(
      response,
      event("message_start", { message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("content_block_delta", delta),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
      event("message_stop", {})
    )
  }
  if (url.startsWith("/v1/chat")) return events(response, chunk("hello "), chunk(value), "data: [DONE]\n\n")
  return json(200, { id: "re_1", object: "refund", amount: Number(new URLSearchParams(body).get("amount")) })
}

beforeAll(async () => {
  api = await Upstream.start(certificate)
  api.answer = answer
  agent = { SERVICE_API_KEY: (await place.prints("service-account", "create", "agent", "--no-reveal")).trim() }
  const patterns = ["--project-pattern", "*", "--env-pattern", "*"]
  await place.ok("acl", "grant", "--service-account", "agent", ...patterns, "--permission", "use")
  const allow = async (key: string, path: string, ...more: ReadonlyArray<string>) => {
    await place.ok("secret", "set", key, value)
    const at = key === "GH_ENTERPRISE_TOKEN" && named !== null ? named : "localhost"
    const where = ["--host", `${at}:${api.port}`, "--account", "agent", "--path", path, "--method", "POST"]
    await place.ok("use", "allow", key, ...where, "--as-header", "authorization: Bearer {}", ...more)
  }
  await allow("OPENAI_API_KEY", "/v1/chat/*", "--response", "stream")
  await allow("ANTHROPIC_API_KEY", "/v1/messages", "--response", "stream")
  await allow("STRIPE_KEY", "/v1/refunds")
  await allow("GH_ENTERPRISE_TOKEN", "/api/*", "--method", "GET")
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a program behind the proxy, or with the address of the API at the proxy. */
const run = async (
  options: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  ...command: ReadonlyArray<string>
) => {
  const { code, stderr, stdout } = await place.home.coffer(["use", "proxy", ...options, "--", ...command], {
    env: { ...agent, ...environment }
  })
  assert.strictEqual(code, 0, stderr)
  assert.notInclude(stdout + stderr, "CanaryOf")
  return stdout.trim()
}

const reverse = () => ["--base-url", `API=localhost:${api.port}`]

const scripts = {
  openai: {
    javascript: `import OpenAI from "openai"
      const client = new OpenAI({ baseURL: process.env.API + "/v1" })
      const stream = await client.chat.completions.create({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] })
      for await (const part of stream) process.stdout.write(part.choices[0].delta.content)`,
    python: `import os
from openai import OpenAI
client = OpenAI(base_url=os.environ["API"] + "/v1")
for part in client.chat.completions.create(model="m", stream=True, messages=[{"role": "user", "content": "hi"}]):
    print(part.choices[0].delta.content, end="")`,
    // It goes through the proxy that the variables name.
    isForward: true,
    says: "hello [scrubbed]"
  },
  anthropic: {
    javascript: `import Anthropic from "@anthropic-ai/sdk"
      const client = new Anthropic({ baseURL: process.env.API })
      const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] })
      process.stdout.write(await stream.finalText())`,
    python: `import os
from anthropic import Anthropic
client = Anthropic(base_url=os.environ["API"])
with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as stream:
    print(stream.get_final_text(), end="")`,
    // It goes through the proxy that the variables name.
    isForward: true,
    says: "hello [scrubbed]"
  },
  stripe: {
    javascript: `import Stripe from "stripe"
      const { hostname, pathname, port } = new URL(process.env.API)
      const inner = (url, init) => fetch(url.replace("/v1/", pathname + "/v1/"), init)
      const options = { protocol: "http", host: hostname, port, httpClient: Stripe.createFetchHttpClient(inner) }
      const client = new Stripe(process.env.STRIPE_KEY, options)
      process.stdout.write(String((await client.refunds.create({ charge: "ch_1", amount: 7 })).amount))`,
    python: `import os, stripe
stripe.api_base = os.environ["API"]
stripe.api_key = os.environ["STRIPE_KEY"]
print(stripe.Refund.create(charge="ch_1", amount=7).amount, end="")`,
    // It trusts authorities of its own.
    isForward: false,
    says: "7"
  }
} as const

describe("behind coffer use proxy, the SDK of", () => {
  for (const [vendor, { isForward, javascript, python, says }] of Object.entries(scripts)) {
    it.skipIf(!has("node_modules"))(`${vendor} for Node works unchanged`, async () => {
      const file = join(sdks, `${vendor}-${process.pid}.mjs`)
      writeFileSync(file, javascript)
      const said = await run(reverse(), {}, node, file)
      rmSync(file)
      assert.strictEqual(said, says)
    })

    it.skipIf(!has("python"))(`${vendor} for Python works unchanged`, async () => {
      const environment = {
        PYTHONPATH: join(sdks, "python"),
        ...(isForward && { API: `https://localhost:${api.port}` })
      }
      assert.strictEqual(await run(isForward ? [] : reverse(), environment, "python3", "-c", python), says)
    })
  }
})

describe.skipIf(!has("bin/gh") || named === null)("behind coffer use proxy, gh", () => {
  it("works unchanged, and the token is seen by GitHub alone", async () => {
    const at = `${named}:${api.port}`
    const folders = { GH_HOST: at, GH_CONFIG_DIR: join(folder, "gh"), GH_NO_UPDATE_NOTIFIER: "1" }
    const gh = (...words: ReadonlyArray<string>) => run([], folders, join(sdks, "bin/gh"), ...words)
    api.arrived.length = 0
    assert.strictEqual(await gh("api", "user", "--jq", ".login"), "ada")
    assert.match(await gh("issue", "list", "--repo", `${at}/acme/webshop`), /^7\tOPEN\tIt leaks/)
    assert.isAtLeast(api.arrived.length, 3)
    for (const { headers, url } of api.arrived) {
      assert.strictEqual(headers.authorization, `Bearer ${value}`)
      assert.match(url, /^\/api\//)
    }
  })
})
