import { generateX25519Identity, identityToRecipient } from "age-encryption"
import { Effect, Redacted, Schema } from "effect"
import { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Cluster } from "../../../server/test/support/postgres/Cluster.js"
import { decrypt } from "../../src/archive/Age.js"
import { unpack, versionsOf } from "../../src/archive/Unpack.js"
import { finish, Server, TestHome } from "../support/Programs.js"

let from: Server
let to: Server
let cluster: Cluster
const homes: Array<TestHome> = []
let [ada, grace]: Array<TestHome> = []
let identity = ""

const webshop = "/api/orgs/acme/projects/webshop"
// 2,000 of them move in packages/server/test/postgres/Moves.long.test.ts.
const keys = 450
const values: Readonly<Record<string, string>> = {
  EMPTY: "",
  UNICODE: "Grüße, \u{1f511}\n",
  LARGE: `\u0001"\\${"x".repeat(60_000)}`,
  __proto__KEY: "canary-proto"
}

const login = async (server: Server, name: string) => {
  const home = await server.login(`${name}@example.com`)
  homes.push(home)
  return home
}

/** Runs a command that must end with this code. */
const ran = async (home: TestHome | undefined, args: ReadonlyArray<string>, code = 0, options = {}) => {
  const result = await (home ?? assert.fail("the tests have not begun")).coffer(args, options)
  assert.strictEqual(result.code, code, `${args.join(" ")}: ${result.stderr}`)
  return result
}

beforeAll(async () => {
  cluster = await Cluster.start()
  ;[from, to] = await Promise.all([
    Server.start(),
    Server.start(() => ({ SERVICE_DB_PATH: "", SERVICE_DATABASE_URL: `${cluster.url}/postgres` }))
  ])
  ada = await login(from, "ada")
  const { token } = ada
  const call = (method: string, path: string, body?: unknown) => from.call(method, path, { body, token })
  await call("POST", "/api/orgs", { name: "acme" })
  await call("POST", "/api/orgs/acme/members", { email: "grace@example.com", role: "owner" })
  await call("POST", "/api/orgs/acme/members", { email: "linus@example.com", role: "developer" })
  for (const name of ["webshop", "empty"]) await call("POST", "/api/orgs/acme/projects", { name })
  await call("POST", "/api/orgs/acme/service-accounts", { name: "agent" })
  await call("POST", "/api/orgs/acme/groups", { name: "backend" })
  await call("POST", "/api/orgs/acme/webhooks", { url: "https://hooks.invalid/", events: ["secret.*"] })
  const rule = { project_pattern: "webshop", env_pattern: "*", permission: "write" }
  await call("POST", "/api/orgs/acme/acl", { subject_type: "user", email: "linus@example.com", ...rule })
  await call("PUT", `${webshop}/declared/DATABASE_URL`, { required_in: ["prod"], pattern: "postgres://.+" })
  const many = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`KEY_${index}`, `canary-${index}`]))
  await call("PATCH", `${webshop}/envs/dev/bundle`, { set: many })
  for (const value of ["first", "second", "third"])
    await call("PATCH", `${webshop}/envs/dev/bundle`, { set: { KEY_1: value } })
  await call("PATCH", `${webshop}/envs/prod/bundle`, { set: values, references: { REFERS: "https://${UNICODE}" } })
  await ran(ada, ["init", "--org", "acme", "--project", "webshop", "--env", "dev"])
  await ran(ada, ["group", "add", "backend", "linus@example.com"])
  await ran(ada, ["secret", "destroy", "KEY_1", "--versions", "1,2", "--yes"])
  const use = [
    "--host",
    "api.invalid",
    "--path",
    "/v1/*",
    "--account",
    "agent",
    "--as-header",
    "authorization: Bearer {}"
  ]
  await ran(ada, ["use", "allow", "KEY_2", ...use])
  grace = await login(from, "grace")
  // Accepts: only then, grace counts as a voter.
  await from.call("GET", "/api/orgs/acme", { token: grace.token })
  await call("PUT", `${webshop}/envs/prod/protection`, { needed: 1, approvers: "admins", self: false, break_glass: [] })
  identity = await generateX25519Identity()
})
afterAll(async () => {
  for (const home of homes) home.remove()
  await Promise.all([from.stop(), to.stop()])
  await cluster.remove()
})

/** Exports an organization with two owners, because an environment is protected. Returns the path of the archive. */
const exported = async (owner: TestHome | undefined, second: TestHome | undefined, org: string, name: string) => {
  assert(owner !== undefined)
  const out = join(owner.folder, name)
  const args = ["org", "export", "--org", org, "--to-age", await identityToRecipient(identity)]
  const asked = await ran(owner, [...args, "--versions", out], 5)
  const [, id = ""] = /coffer request approve (\S+);/.exec(asked.stderr) ?? []
  assert.match(
    asked.stderr,
    new RegExp(
      `^coffer: nothing was exported yet: ${org} has a protected environment, and export ${id} waits until another owner approves it, at most until [-\\d]+ [\\d:]+ UTC; another owner runs: coffer request approve ${id}; then run the same command with --id ${id}\n$`
    )
  )
  assert.isFalse(existsSync(out))
  assert.notStrictEqual((await owner.coffer(["org", "export", "approve", id, "--org", org, "--yes"])).code, 0)
  await ran(owner, [...args, "--id", id, out], 5)
  const listed = await ran(second, ["org", "export", "list", "--org", org])
  assert.match(listed.stdout, new RegExp(`^${id}\twaiting\tada@example.com\t-\tall\t`))
  await ran(second, ["org", "export", "approve", id, "--org", org, "--yes"])
  const done = await ran(owner, [...args, "--id", id, out])
  assert.include(done.stdout, `organization ${org} exported: 2 projects, `)
  assert.strictEqual((await ran(second, ["org", "export", "list", "--org", org])).stdout, "")
  return out
}

/** Decrypts an archive, and returns its content. */
const contentOf = (path: string) =>
  Effect.gen(function* () {
    const key = { type: "identities", file: "key.txt", identities: [Redacted.make(identity)] } as const
    const { declared, manifest, organization, parts } = yield* unpack(
      path,
      yield* decrypt(key, path, readFileSync(path))
    )
    const read = yield* Effect.forEach(parts, (part) =>
      Effect.map(versionsOf(part), (versions) => [part.name, Schema.encodeSync(ArchivedVersions)(versions)] as const)
    )
    return { counts: manifest.counts, organization, declared, parts: Object.fromEntries(read) }
  }).pipe(Effect.runPromise)

describe("an organization that moves to another server and another engine", { timeout: 120_000 }, () => {
  let archive = ""
  let adaThere: TestHome | undefined
  let keyFile = ""

  it("is exported by two owners into a file that only the recipient can read", async () => {
    archive = await exported(ada, grace, "acme", "acme.age")
    const bytes = readFileSync(archive)
    assert.isFalse(bytes.includes("canary"))
    assert.strictEqual(statSync(archive).mode & 0o777, 0o600)
    const again = await ran(ada, ["org", "export", "--passphrase-file", "none", archive], 1)
    assert.match(again.stderr, /none does not exist/)
    const { counts, parts } = await contentOf(archive)
    assert.strictEqual(counts.secrets, keys + Object.keys(values).length + 1)
    const prod = parts["projects/webshop/prod/1.json"]?.data ?? []
    for (const [key, value] of Object.entries(values)) {
      assert.strictEqual(prod.find((each) => each.key === key)?.value, value, key)
    }
    assert.deepInclude(
      prod.find(({ key }) => key === "REFERS"),
      { kind: "reference", value: "https://${UNICODE}" }
    )
  })

  it("is planned without a server, and without a value", async () => {
    assert(ada !== undefined)
    keyFile = join(ada.folder, "key.txt")
    writeFileSync(keyFile, `# created: today\n${identity}\n`, { mode: 0o600 })
    const env = { SERVICE_SERVER_URL: "http://127.0.0.1:9", HOME: "/nonexistent" }
    const plan = ["org", "import", archive, "--identity", keyFile, "--as", "acme-copy", "--plan"]
    const { stderr, stdout } = await ran(ada, plan, 0, { env })
    assert.match(stdout, /^webshop\/dev\t450\t3\t1\tno$/m)
    assert.match(stdout, /^webshop\/prod\t5\t0\t0\tyes$/m)
    assert.match(stderr, /would become acme-copy: 2 projects, /)
    assert.match(stderr, /member: linus@example.com as developer; nobody is mailed/)
    assert.match(stderr, /service account without a key: agent/)
    assert.match(stderr, /webhook, disabled, with a new signing key: https:\/\/hooks.invalid$/m)
    assert.match(stderr, /not in an archive: keys of service accounts; /)
    const { counts, members, name } = JSON.parse((await ran(ada, [...plan, "--json"], 0, { env })).stdout)
    assert.deepStrictEqual([name, counts.secrets, members.length], ["acme-copy", 455, 3])
    assert.notInclude(stdout + stderr, "canary")
  })

  it("leaves nothing behind when the import is interrupted or killed", async () => {
    adaThere = await login(to, "ada")
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const seen: Array<string> = []
      let held: (() => void) | undefined
      /** Goes between the client and the server, and holds the third write of secrets. */
      const between = createServer((asked, answer) => {
        seen.push(asked.method ?? "")
        if (asked.url?.endsWith("/secrets") === true && seen.filter((each) => each === "PUT").length === 4) {
          held?.()
          return
        }
        const onward = request(
          `${to.url}${asked.url ?? ""}`,
          { method: asked.method, headers: asked.headers },
          (response) => {
            answer.writeHead(response.statusCode ?? 500, response.headers)
            response.pipe(answer)
          }
        )
        asked.pipe(onward)
      }).listen(0, "127.0.0.1")
      await once(between, "listening")
      const address = between.address()
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const home = new TestHome(url)
      homes.push(home)
      const reached = new Promise<void>((resolve) => (held = resolve))
      writeFileSync(join(home.folder, "key.txt"), identity, { mode: 0o600 })
      mkdirSync(dirname(home.session), { recursive: true, mode: 0o700 })
      writeFileSync(home.session, JSON.stringify({ [url]: adaThere.token }), { mode: 0o600 })
      const child = home.start(["org", "import", archive, "--identity", "key.txt"])
      const ended = finish(child)
      await Promise.race([reached, ended])
      child.kill(signal)
      const { code, stderr } = await ended
      assert.strictEqual(code, signal === "SIGINT" ? 130 : null, stderr)
      if (signal === "SIGINT") {
        assert.strictEqual(
          stderr,
          "coffer: the import was given up: nothing of it is visible, and its values are erased within the hour\n"
        )
        assert.strictEqual(seen.at(-1), "DELETE")
      }
      between.closeAllConnections()
      between.close()
      assert.deepStrictEqual(JSON.parse((await ran(adaThere, ["org", "list", "--json"])).stdout).data, [])
    }
  })

  it("is imported under another name, and is the same when it is exported there", async () => {
    const args = ["org", "import", archive, "--identity", keyFile, "--as", "acme-copy"]
    const { stderr, stdout } = await ran(adaThere, args)
    assert.include(stdout, "organization acme-copy imported and verified: 2 projects, ")
    assert.match(
      stderr,
      /1 service account without a key; make one each: coffer service-account rotate NAME --org acme-copy/
    )
    assert.match(
      stderr,
      /1 webhook is disabled, with a new signing key; get one by: coffer webhook rotate ID --org acme-copy/
    )
    assert.match((await ran(adaThere, args, 1)).stderr, /acme-copy/)
    const graceThere = await login(to, "grace")
    const back = await exported(adaThere, graceThere, "acme-copy", "back.age")
    const [here, there] = [await contentOf(archive), await contentOf(back)]
    const disabled = here.organization.webhooks.map((webhook) => ({ ...webhook, enabled: false }))
    assert.deepStrictEqual(there, { ...here, organization: { ...here.organization, webhooks: disabled } })
    const place = ["--org", "acme-copy", "--project", "webshop", "--env", "prod"]
    const read = await ran(adaThere, ["secret", "get", "REFERS", ...place])
    assert.strictEqual(read.stdout, `https://${values["UNICODE"]}`)
  })
})
