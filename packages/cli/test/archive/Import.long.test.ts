import { Effect, Redacted, Schema, Struct } from "effect"
import { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import { readFileSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createServer, request } from "node:http"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { decrypt } from "../../src/archive/Age.js"
import { unpack, versionsOf } from "../../src/archive/Unpack.js"
import { Server, type TestHome } from "../support/Programs.js"
import { Terminal } from "../support/Terminal.js"

/** The client of 0.3.0 made it, of the organization that fills the fixtures of packages/server/test/fixtures/0.3.0. */
const archive = join(import.meta.dirname, "acme-0.3.0.age")
const passphrase = "correct horse battery staple"

let server: Server
let [ada, grace]: Array<TestHome> = []
const homes: Array<TestHome> = []

const login = async (name: string) => {
  const home = await server.login(`${name}@example.com`)
  writeFileSync(join(home.folder, "passphrase"), `${passphrase}\n`, { mode: 0o600 })
  homes.push(home)
  return home
}

beforeAll(async () => {
  server = await Server.start((url) => ({
    SERVICE_ORG_CREATION: "anyone",
    SERVICE_PUBLIC_URL: url.replace("127.0.0.1", "localhost"),
    SERVICE_TRUSTED_PROXIES: "127.0.0.0/8",
    SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8"
  }))
  ;[ada, grace] = [await login("ada"), await login("grace")]
})
afterAll(async () => {
  for (const home of homes) home.remove()
  await server.stop()
})

const importing = ["org", "import", archive, "--passphrase-file", "passphrase"]

/** Runs a command that must end with this code. */
const ran = async (home: TestHome | undefined, args: ReadonlyArray<string>, code = 0, options = {}) => {
  const result = await (home ?? assert.fail("the tests have not begun")).coffer(args, options)
  assert.strictEqual(result.code, code, `${args.join(" ")}: ${result.stderr}`)
  return result
}

/** Decrypts an archive, and returns its content. */
const contentOf = (path: string) =>
  Effect.gen(function* () {
    const key = { type: "passphrase", file: "passphrase", passphrase: Redacted.make(passphrase) } as const
    const { declared, manifest, organization, parts } = yield* unpack(
      path,
      yield* decrypt(key, path, readFileSync(path))
    )
    const read = yield* Effect.forEach(parts, (part) =>
      Effect.map(versionsOf(part), (versions) => [part.name, Schema.encodeSync(ArchivedVersions)(versions)] as const)
    )
    return { manifest, organization, declared, parts: Object.fromEntries(read) }
  }).pipe(Effect.runPromise)

type Content = Awaited<ReturnType<typeof contentOf>>
type Organization = Content["organization"]

const day = 24 * 60 * 60 * 1000
const sorted = <A>(records: ReadonlyArray<A>) =>
  records.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

/** Rules, webhooks and the members of groups are in the order of ids, which are new. What would end within a day ends a day after the import. */
const comparable = (organization: Organization) => ({
  ...organization,
  groups: organization.groups.map(({ members, ...group }) => ({ ...group, members: sorted(members) })),
  rules: sorted(
    organization.rules.filter(({ expires_at }) => expires_at === undefined || Date.parse(expires_at) > Date.now() + day)
  ),
  webhooks: sorted(organization.webhooks.map((webhook) => ({ ...webhook, enabled: false }))),
  projects: organization.projects.map((project) => ({
    ...project,
    environments: project.environments.map(({ expires_at, ...env }) => ({
      ...env,
      ends: expires_at !== undefined && Date.parse(expires_at) < Date.now() + day + 60_000 ? "soon" : expires_at
    }))
  }))
})

/** A protection of 0.3.0 may name people who have left. */
const withoutFormer = (organization: Organization): Organization =>
  JSON.parse(
    JSON.stringify(organization).replaceAll('"former@example.com",', "").replaceAll('"former@example.com"', "")
  )

/** Archives of 0.3.0 have no revisions. */
const withoutRevisions = ({ parts }: Content) =>
  Object.fromEntries(
    Object.entries(parts).map(([name, { data }]) => [name, data.map((version) => Struct.omit(version, "revision"))])
  )

describe("an archive of 0.3.0", { timeout: 120_000 }, () => {
  it("is imported, and has every field when it is exported again", async () => {
    const { stderr, stdout } = await ran(ada, [...importing, "--as", "acme-again"])
    assert.include(stdout, "organization acme-again imported and verified: 3 projects, 12 environments, 22 secrets")
    assert.deepStrictEqual(stderr.match(/left out: .*/g), [
      "left out: former@example.com in the protection of environment guarded/dev: not a member",
      "left out: billing/staging/HOST, to which billing/staging/URL refers: it was not in the archive, and billing/staging/URL cannot be read until it is set"
    ])
    const out = join(ada?.folder ?? "", "again.age")
    const args = ["org", "export", "--org", "acme-again", "--passphrase-file", "passphrase"]
    // Accepts: only then, grace may approve.
    await ran(grace, ["org", "list"])
    const asked = await ran(ada, [...args, "--versions", out], 5)
    const [, id = ""] = /coffer request approve (\S+);/.exec(asked.stderr) ?? []
    await ran(grace, ["org", "export", "approve", id, "--org", "acme-again", "--yes"])
    await ran(ada, [...args, "--id", id, out])
    const [before, after] = [await contentOf(archive), await contentOf(out)]
    assert.deepStrictEqual(comparable(after.organization), comparable(withoutFormer(before.organization)))
    assert.deepStrictEqual(after.declared, before.declared)
    assert.deepStrictEqual(withoutRevisions(after), withoutRevisions(before))
    const counts = ({ manifest }: Content) => Struct.omit(manifest.counts, "fields", "rules")
    assert.deepStrictEqual(counts(after), counts(before))
  })
})

describe("an import whose name somebody else has", { timeout: 120_000 }, () => {
  it("asks a person at a terminal for another one, and goes on with that", async () => {
    assert(ada !== undefined)
    await server.call("POST", "/api/orgs", { body: { name: "acme" }, token: ada.token })
    const terminal = Terminal.coffer(ada, ...importing)
    await terminal.sees("the organization name acme is in use: choose another")
    await terminal.answer("another name for the organization (Enter gives the import up): ", "Not A Name\r")
    await terminal.sees("a name has 2 to 50 lowercase letters, digits and hyphens")
    await terminal.answer("another name for the organization (Enter gives the import up): ", "acme\r")
    await terminal.answer("another name for the organization (Enter gives the import up): ", "acme-two\r")
    await terminal.sees("organization acme-two imported and verified")
    assert.strictEqual(await terminal.ended(), 0)
  })

  it("asks for another one at the end, too, and writes nothing again", async () => {
    const home = ada ?? assert.fail("the tests have not begun")
    const calls: Array<string> = []
    /** Goes between the client and the server. Before the end of the import, somebody else takes its name. */
    const between = createServer((asked, answer) => {
      const path = asked.url ?? ""
      calls.push(`${asked.method} ${path.replace(/[0-9a-f-]{36}/, "ID")}`)
      const onward = () => {
        const options = { method: asked.method, headers: asked.headers }
        const sent = request(`${server.url}${path}`, options, (response) => {
          answer.writeHead(response.statusCode ?? 500, response.headers)
          response.pipe(answer)
        })
        asked.pipe(sent)
      }
      const isFirstEnd = path.endsWith("/finish") && calls.filter((call) => call.endsWith("/finish")).length === 1
      if (!isFirstEnd) return onward()
      void server.call("POST", "/api/orgs", { body: { name: "acme-late" }, token: home.token }).then(onward)
    }).listen(0, "127.0.0.1")
    await once(between, "listening")
    const address = between.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
    writeFileSync(home.session, JSON.stringify({ [server.url]: home.token, [url]: home.token }), { mode: 0o600 })
    const options = { env: { SERVICE_SERVER_URL: url } }
    const terminal = Terminal.sized(home, 120, 40, [...importing, "--as", "acme-late"], options)
    await terminal.sees("the organization name acme-late is in use: choose another")
    await terminal.answer("another name for the organization (Enter gives the import up): ", "acme-later\r")
    await terminal.sees("organization acme-later imported and verified")
    assert.strictEqual(await terminal.ended(), 0)
    const count = (call: string) => calls.filter((each) => each === call).length
    assert.deepStrictEqual([count("POST /api/imports"), count("POST /api/imports/ID/finish")], [1, 2])
    assert.strictEqual(count("DELETE /api/imports/ID"), 0)
    between.closeAllConnections()
    between.close()
  })

  it("is given up by Enter, and ends with the error where nobody can be asked or JSON is", async () => {
    assert(ada !== undefined)
    const terminal = Terminal.coffer(ada, ...importing)
    await terminal.answer("another name for the organization (Enter gives the import up): ", "\r")
    assert.strictEqual(await terminal.ended(), 1)
    const piped = await ran(ada, importing, 1)
    assert.match(piped.stderr, /^coffer: the organization name acme is in use: choose another/)
    assert.notInclude(piped.stderr, "another name for")
    const json = Terminal.sized(ada, 120, 40, [...importing, "--json"])
    await json.sees("the organization name acme is in use: choose another")
    assert.strictEqual(await json.ended(), 1)
    assert.notInclude(json.screen, "another name for")
    const { stdout } = await ran(ada, ["org", "list", "--json"])
    const names = JSON.parse(stdout).data.map(({ name }: { readonly name: string }) => name)
    assert.sameMembers(names, ["acme", "acme-again", "acme-late", "acme-later", "acme-two"])
  })
})
