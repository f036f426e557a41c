import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { hostname, networkInterfaces } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type TestHome, Server } from "../support/Programs.js"

/** An address of this machine that is not a loopback one: what is on it may not have our key. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((each) => each !== undefined && each.family === "IPv4" && !each.internal)?.address

const requests: Array<string> = []
const listener = createServer((request, response) => {
  requests.push(`${request.method ?? ""} ${request.url ?? ""} ${JSON.stringify(request.headers)}`)
  const body = JSON.stringify({ token: "svc_st_evil", message: "ok", data: [], revision: 1, status: "ok" })
  response.writeHead(200, { "content-type": "application/json" }).end(body)
})

let server: Server
let ada: TestHome
let clone: string
const key = `svc_sa_${"k".repeat(49)}`

beforeAll(async () => {
  server = await Server.start()
  ada = await server.login("ada@example.com")
  listener.listen(0, "0.0.0.0")
  await once(listener, "listening")
  const where = listener.address()
  const port = typeof where === "object" && where !== null ? where.port : 0
  clone = join(ada.folder, "clone")
  mkdirSync(clone)
  const lines = [`server_url: http://${address ?? hostname()}:${port}`, "org: acme", "project: webshop", "env: dev", ""]
  writeFileSync(join(clone, "service.yml"), lines.join("\n"))
})

afterAll(async () => {
  listener.closeAllConnections()
  listener.close()
  ada?.remove()
  await server?.stop()
})

const commands = [
  ["whoami"],
  ["logout"],
  ["secret", "set", "API_KEY", "the-value"],
  ["secret", "export"],
  ["secret", "import", "../import.env"],
  ["service-account", "create", "ci"],
  ["audit", "list", "--all"],
  ["run", "--", "true"]
]

describe.runIf(address !== undefined)("a service.yml that names somebody else's server", () => {
  it.each([
    ["a key", { SERVICE_API_KEY: key }],
    ["a session", {}]
  ])("gets nothing of who has %s", async (_, credential) => {
    writeFileSync(join(ada.folder, "import.env"), "API_KEY=the-value\n")
    const env = { SERVICE_SERVER_URL: "", ...credential }
    const results = await Promise.all(commands.map((args) => ada.coffer(args, { cwd: clone, env })))
    for (const [index, result] of results.entries()) {
      const args = commands[index] ?? []
      if (args[0] === "logout") continue
      assert.include([1, 3, 125], result.code, `${args.join(" ")}: ${result.stderr}`)
      assert.strictEqual(result.stdout, "")
    }
    assert.deepStrictEqual(requests, [])
  })

  it("lets a command that needs no credential ask that server, without any credential", async () => {
    const { code } = await ada.coffer(["health"], { cwd: clone, env: { SERVICE_SERVER_URL: "", SERVICE_API_KEY: key } })
    assert.strictEqual(code, 0)
    assert.lengthOf(requests, 1)
    assert.notMatch(requests.join(), /authorization|x-api-key|svc_/i)
  })
})

it("leaves the session at its own server as it was", async () => {
  const { code } = await ada.coffer(["whoami"])
  assert.strictEqual(code, 0)
})
