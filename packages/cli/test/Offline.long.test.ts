import { createServer } from "node:http"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { once } from "node:events"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { Bridge } from "./support/Bridge.js"
import { type TestHome, Server, until } from "./support/Programs.js"

let server: Server
let home: TestHome
let bridge: Bridge
let apiKey: string
let accountId: string

const coffer = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await home.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return stdout
}

const grant = ["--project-pattern", "webshop", "--env-pattern", "dev", "--permission", "read"]

const createAccount = async (name: string) => {
  const { api_key: key, id } = JSON.parse(await coffer("service-account", "create", name, "--json"))
  await coffer("acl", "grant", "--service-account", id, ...grant)
  return { id, key }
}

beforeAll(async () => {
  server = await Server.start()
  home = await server.login("ada@example.com")
  bridge = await Bridge.to(server.url)
  for (const args of [
    ["org", "create", "acme"],
    ["project", "create", "webshop", "--org", "acme"],
    ["init", "--org", "acme", "--project", "webshop", "--env", "dev"],
    ["secret", "set", "COLOUR", "canary-red"]
  ]) {
    await coffer(...args)
  }
  const account = await createAccount("offline")
  apiKey = account.key
  accountId = account.id
}, 300_000)

afterAll(async () => {
  await bridge?.close()
  home?.remove()
  await server?.stop()
})

const run = (options: ReadonlyArray<string> = [], env: Record<string, string> = {}) =>
  home.coffer(["run", "--offline-fallback", ...options, "--", "printenv", "COLOUR"], {
    env: { SERVICE_SERVER_URL: bridge.url, SERVICE_API_KEY: apiKey, ...env }
  })

const folder = () => join(home.folder, ".local/state/coffer/offline")
const copies = () =>
  readdirSync(folder(), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))

describe("run --offline-fallback", () => {
  beforeEach(async () => {
    const { code, stderr } = await run()
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(stderr, "")
  })

  it("keeps a copy for its owner alone that shows nothing", () => {
    const [copy = ""] = copies()
    assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
    assert.strictEqual(statSync(folder()).mode & 0o777, 0o700)
    const text = readFileSync(copy, "utf8")
    for (const word of ["canary", "COLOUR", "acme", "webshop", apiKey]) assert.notInclude(copy + text, word)
  })

  it("is needed: a plain run keeps no copy", async () => {
    const before = copies().length
    await coffer("run", "--only", "COLOUR", "true")
    assert.lengthOf(copies(), before)
  })

  it("is used when the server is away, says its age, and not without the option, another credential or in time", async () => {
    const other = await createAccount("other")
    await bridge.close()
    const [used, without, another, keys] = await Promise.all([
      run(),
      home.coffer(["run", "--", "printenv", "COLOUR"], {
        env: { SERVICE_SERVER_URL: bridge.url, SERVICE_API_KEY: apiKey }
      }),
      run([], { SERVICE_API_KEY: other.key }),
      run(["--only", "COLOUR"])
    ])
    const [copy = ""] = copies()
    await until(() => (Date.now() > statSync(copy).mtimeMs + 1000 ? true : undefined), "the copy to be old")
    const old = await run(["--offline-max-age", "1s"])
    assert.strictEqual(used.stdout, "canary-red\n", used.stderr)
    assert.match(
      used.stderr,
      /^coffer: cannot reach .*connection refused; using the copy of its secrets, [0-9]+ s old\n$/
    )
    for (const { code, stdout } of [without, another, keys, old]) assert.deepStrictEqual([code, stdout], [125, ""])
    assert.match(another.stderr, /and offline: the copy was made with another credential, or is damaged/)
    assert.match(keys.stderr, /and offline: there is no copy yet/)
    assert.match(old.stderr, /and offline: the copy is [0-9]+ s old and may be 1 s old/)
    await bridge.open()
  })

  it("is not used when an answer came, and stays", async () => {
    // A router without a backend may answer 404, and a login proxy 401 or 403.
    const statuses = [502, 404, 403, 401]
    let status = 0
    const page = createServer((_, response) => response.writeHead(status).end("<h1>bad gateway</h1>"))
    await bridge.close()
    await once(page.listen(bridge.port, "127.0.0.1"), "listening")
    for (status of statuses) {
      const { code, stderr, stdout } = await run()
      assert.deepStrictEqual([code, stdout], [125, ""])
      assert.match(stderr, new RegExp(`answered ${status}`))
      assert.isNotEmpty(copies(), String(status))
    }
    await new Promise((resolve) => page.close(resolve))
    await bridge.open()
  })

  it("is removed when the server says that the caller may not", async () => {
    assert.isNotEmpty(copies())
    const { code } = await run([], { SERVICE_API_KEY: "svc_sa_unknown00000000000000000000000000000000" })
    assert.strictEqual(code, 125)
    assert.isEmpty(copies())
  })

  it("is removed when the environment is gone for the caller", async () => {
    const rules = JSON.parse(await coffer("acl", "list", "--json")).data
    const { id } = rules.find((rule: { subject_id: string }) => rule.subject_id === accountId)
    await coffer("acl", "revoke", id, "--yes")
    const { code, stderr } = await run()
    assert.strictEqual(code, 125, stderr)
    assert.isEmpty(copies())
    await coffer("acl", "grant", "--service-account", accountId, ...grant)
  })

  it("is removed when a value passes what the caller may no longer read", async () => {
    await coffer("secret", "set", "PART", "part", "--env", "staging")
    await coffer("secret", "set", "WHOLE", "--expand", "${staging:PART}")
    const { code, stderr } = await run()
    assert.strictEqual(code, 125)
    assert.match(stderr, /WHOLE refers to staging:PART, and this needs read on environment staging/)
    assert.isEmpty(copies())
    await coffer("secret", "delete", "WHOLE", "--yes")
  })

  it("starts the command all the same when no copy can be kept", async () => {
    const file = join(home.folder, "not-a-folder")
    writeFileSync(file, "")
    const { code, stderr, stdout } = await run([], { XDG_STATE_HOME: file })
    assert.deepStrictEqual([code, stdout], [0, "canary-red\n"])
    assert.match(stderr, /^coffer: no copy is kept for --offline-fallback: .*not-a-folder/)
  })

  it("is renewed and dropped while the environment is followed", async () => {
    const client = home.start(["run", "--offline-fallback", "--watch", "--watch-interval", "200ms", "sleep", "60"], {
      env: { SERVICE_SERVER_URL: bridge.url, SERVICE_API_KEY: apiKey }
    })
    // Not what a copy is called while it is being written.
    const kept = () => copies().filter((copy) => /\/[0-9a-f]{32}$/.test(copy))
    const texts = () => kept().map((copy) => readFileSync(copy, "utf8"))
    const [first] = texts()
    // The client has started: it has renewed the copy.
    const started = await until(() => texts().find((text) => text !== first), "a copy")
    await coffer("secret", "set", "COLOUR", "canary-blue")
    await until(() => texts().find((text) => ![first, started].includes(text)), "a newer copy")
    await bridge.close()
    assert.strictEqual((await run()).stdout, "canary-blue\n")
    await bridge.open()
    await coffer("service-account", "revoke", "offline", "--yes")
    await until(() => (copies().length === 0 ? true : undefined), "the copy to be removed")
    client.kill("SIGTERM")
    await once(client, "exit")
  })
})
