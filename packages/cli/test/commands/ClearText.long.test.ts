import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer as createHttp, request, type RequestListener, type Server as HttpServer } from "node:http"
import { createServer as createHttps } from "node:https"
import { networkInterfaces } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type TestHome, Server } from "../support/Programs.js"

const value = "line one\nline two"

/** An address of this machine that is not loopback. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.internal === false && address.family === "IPv4")?.address

let server: Server
let home: TestHome
let key: string
const fronts: Array<HttpServer> = []
const urls: Record<string, string> = {}

/** Hands requests on to the server. */
const forward: RequestListener = (incoming, response) => {
  const { headers, method, url = "" } = incoming
  const outgoing = request(server.url + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(response)
  })
  incoming.pipe(outgoing)
}

const listen = async (front: HttpServer, host: string) => {
  fronts.push(front)
  front.listen(0, host)
  await once(front, "listening")
  const address = front.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

const ok = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return stdout
}

beforeAll(async () => {
  server = await Server.start()
  home = await server.login("ada@example.com")
  await ok("org", "create", "acme")
  await ok("project", "create", "webshop", "--org", "acme")
  await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
  await ok("secret", "set", "A", value)
  await ok("secret", "set", "B", "")
  writeFileSync(join(home.folder, "same.json"), JSON.stringify({ A: value, B: "" }))
  key = (await ok("service-account", "create", "ci")).trim()
  const rule = ["--project-pattern", "*", "--env-pattern", "*", "--permission", "write"]
  await ok("acl", "grant", "--service-account", "ci", ...rule)

  const certificate = join(home.folder, "certificate.pem")
  const files = ["-keyout", join(home.folder, "key.pem"), "-out", certificate]
  const form = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
  execFileSync("openssl", [...form.split(" "), ...files], { stdio: "ignore" })
  const tls = { key: readFileSync(join(home.folder, "key.pem")), cert: readFileSync(certificate) }
  urls["loopback"] = server.url
  urls["TLS"] = `https://localhost:${await listen(createHttps(tls, forward), "localhost")}`
  if (outside !== undefined) urls["clear text"] = `http://${outside}:${await listen(createHttp(forward), outside)}`
}, 300_000)

afterAll(async () => {
  for (const front of fronts) {
    front.closeAllConnections()
    front.close()
  }
  home?.remove()
  await server?.stop()
})

const comment = (reader: string) =>
  `# For ${reader}. A shell that sources this file would run commands in values: use --format shell.\n`

const outputs: ReadonlyArray<readonly [args: ReadonlyArray<string>, stdout: string]> = [
  [["secret", "get", "A"], value],
  [["secret", "get", "A", "--json"], `${JSON.stringify({ key: "A", value, version: 1 }, null, 2)}\n`],
  [["secret", "get", "B"], ""],
  [["secret", "export", "--format", "json"], `${JSON.stringify({ A: value, B: "" }, null, 2)}\n`],
  [["secret", "export", "--format", "yaml"], `A: ${JSON.stringify(value)}\nB: ""\n`],
  [["secret", "export", "--format", "shell"], `export A='${value}'\nexport B=''\n`],
  [["secret", "export", "--format", "env"], `${comment("dotenv and its like")}A='${value}'\nB=''\n`],
  [["run", "--", "printenv", "A"], `${value}\n`]
]

/** Their answers hold times and ids: they are compared with those of the server itself. */
const records = [
  ["secret", "list", "--json"],
  ["secret", "versions", "A", "--json"],
  ["environment", "list", "--json"],
  ["env", "revisions", "--json"],
  ["whoami", "--json"],
  ["secret", "import", "same.json", "--dry-run", "--json"]
]

describe("standard output holds what was asked for, to the byte,", () => {
  const names = ["loopback", "TLS", ...(outside === undefined ? [] : ["clear text"])]

  it.each(names)("from a server behind %s", async (name) => {
    const env = {
      SERVICE_SERVER_URL: urls[name] ?? "",
      SERVICE_API_KEY: key,
      NODE_EXTRA_CA_CERTS: join(home.folder, "certificate.pem")
    }
    for (const args of records) {
      const [here, there] = await Promise.all([
        home.coffer(args, { env: { SERVICE_API_KEY: key } }),
        home.coffer(args, { env })
      ])
      assert.strictEqual(here.code, 0, `${args.join(" ")}: ${here.stderr}`)
      assert.doesNotThrow(() => JSON.parse(here.stdout))
      assert.strictEqual(there.stdout, here.stdout)
    }
    for (const [args, stdout] of outputs) {
      const result = await home.coffer(args, { env })
      assert.deepInclude(result, { code: 0, stdout }, `${args.join(" ")}: ${result.stderr}`)
      const warned = /^coffer: warning: http:\S+ is not https: [^\n]+\n$/
      if (name === "clear text") assert.match(result.stderr, warned)
      else assert.strictEqual(result.stderr, "")
    }
  })
})
