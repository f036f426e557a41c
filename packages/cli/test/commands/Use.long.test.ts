import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { certificateFor } from "../../../server/test/federations/Issuer.js"
import { Upstream } from "../../../server/test/use/Upstream.js"
import { workplace } from "../support/Workplace.js"

const folder = mkdtempSync(join(tmpdir(), "coffer-use-"))
const certificate = certificateFor("localhost")
writeFileSync(join(folder, "ca.pem"), certificate.cert)

const place = workplace("ada@example.com", () => ({
  SERVICE_BROKER: "1",
  SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
  NODE_EXTRA_CA_CERTS: join(folder, "ca.pem")
}))

let api: Upstream
let agent: Readonly<Record<string, string>>

beforeAll(async () => {
  api = await Upstream.start(certificate)
  const key = (await place.prints("service-account", "create", "agent", "--no-reveal")).trim()
  agent = { SERVICE_API_KEY: key }
  const patterns = ["--project-pattern", "*", "--env-pattern", "*"]
  await place.ok("acl", "grant", "--service-account", "agent", ...patterns, "--permission", "use")
  await place.ok("secret", "set", "STRIPE_KEY", "sk_live_Canary7")
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true, force: true })
})

const request = (...args: ReadonlyArray<string>) =>
  place.home.coffer(["use", "request", ...args, "--secret", "STRIPE_KEY"], { env: agent })

const allow = (...args: ReadonlyArray<string>) =>
  place.ok("use", "allow", "STRIPE_KEY", "--host", `localhost:${api.port}`, "--account", "agent", ...args)

describe("coffer use", () => {
  it("lets an account make requests with a value that it never sees, and takes that back", async () => {
    await allow("--path", "/v1/*", "--as-header", "Authorization: Bearer {}", "--per-minute", "5")
    const { data } = JSON.parse(await place.prints("use", "list", "STRIPE_KEY", "--json"))
    assert.deepInclude(data[0], {
      paths: ["/v1/*"],
      methods: ["GET"],
      per_minute: 5,
      place: { in: "header", name: "authorization", format: "Bearer {}" }
    })
    const own = await place.home.coffer(["use", "list"], { env: agent })
    assert.match(own.stdout, /STRIPE_KEY.*\/v1\/\*.*\b5\b/)

    const { code, stderr, stdout } = await request(
      "GET",
      `https://localhost:${api.port}/v1/x`,
      "--header",
      "accept: a/b"
    )
    assert.strictEqual(code, 0, stderr)
    assert.match(stderr, /status 200, 1 times scrubbed/)
    assert.strictEqual(JSON.parse(stdout).headers.authorization, "Bearer [scrubbed]")
    assert.strictEqual(JSON.parse(stdout).headers.accept, "a/b")
    assert.strictEqual(api.arrived.at(-1)?.headers.authorization, "Bearer sk_live_Canary7")

    const refused = await request("GET", `https://localhost:${api.port}/v2`)
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /path \/v2 is in no rule of STRIPE_KEY/)
    await place.ok("use", "revoke", "STRIPE_KEY", data[0].id, "--yes")
    assert.match((await request("GET", `https://localhost:${api.port}/v1/x`)).stderr, /is in no rule/)
  })

  it("changes of a rule what is given, and nothing else", async () => {
    await allow("--path", "/edited", "--as-query", "key", "--per-day", "7", "--expires-at", "2999-01-31T08:00:00Z")
    const find = async () => {
      const { data } = JSON.parse(await place.prints("use", "list", "STRIPE_KEY", "--json"))
      return data.find(({ paths }: { paths: ReadonlyArray<string> }) => paths.includes("/edited"))
    }
    const { expires_at, per_day, updated_at: _made, ...same } = await find()
    assert.deepStrictEqual([per_day, expires_at], [7, "2999-01-31T08:00:00.000Z"])
    const edit = (...args: ReadonlyArray<string>) => place.home.coffer(["use", "edit", "STRIPE_KEY", same.id, ...args])
    const changed = await edit("--approval", "each", "--never-ends", "--as-header", "x-key: {}")
    assert.deepStrictEqual([changed.code, changed.stderr], [0, ""])
    const { updated_at: _changed, ...now } = await find()
    const place_now = { in: "header", name: "x-key", format: "{}" }
    assert.deepStrictEqual(now, { ...same, per_day: 7, expires_at: null, approval: "each", place: place_now })
    for (const [args, why] of [
      [[], /^coffer: say what to change/],
      [
        ["--never-ends", "--expires-at", "2999-01-31T08:00:00Z"],
        /^coffer: give one of --for, --until and --never-ends/
      ],
      [["--as-query", "a", "--as-header", "x: {}"], /^coffer: say where the value goes by one of/]
    ] as const) {
      const { code, stderr } = await edit(...args)
      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, why)
    }
    await place.ok("use", "revoke", "STRIPE_KEY", same.id, "--yes")
  })

  it("says which options it needs", async () => {
    for (const args of [
      ["--path", "/v1/*"],
      ["--path", "/v1/*", "--as-query", "a", "--as-password-of", "b"],
      ["--path", "/v1/*", "--as-header", "host: {}"],
      ["--as-query", "a"]
    ]) {
      const words = ["use", "allow", "STRIPE_KEY", "--host", "a.test", "--account", "agent", ...args]
      assert.strictEqual((await place.home.coffer(words)).code, 2, args.join(" "))
    }
  })

  it("names every option with a wrong value, by the name of the option", async () => {
    const options = ["--host", "http://api.stripe.com", "--path", "v1", "--account", "", "--expires-at", "tomorrow"]
    const { code, stderr } = await place.home.coffer(["use", "allow", "STRIPE_KEY", ...options, "--as-query", "key"])
    const lines = stderr.trim().split("\n")
    assert.deepStrictEqual([code, lines.length], [2, 4], stderr)
    assert.match(lines[0] ?? "", /^coffer: --host must be host names .*: no addresses, wildcards or schemes$/)
    assert.match(lines[1] ?? "", /^coffer: --path must be paths such as/)
    assert.match(lines[2] ?? "", /^coffer: --account needs a value$/)
    assert.match(
      lines[3] ?? "",
      /^coffer: --expires-at must be a time such as 4h or 7d, a date, .*; see coffer use allow --help$/
    )
  })
})

describe("coffer approval", () => {
  it("approves a request once, and refuses another", async () => {
    await allow("--path", "/each", "--method", "POST", "--as-query", "key", "--approval", "each")
    const send = (data: string) => request("POST", `https://localhost:${api.port}/each`, "--data", data)
    const first = await send("one")
    const [, id = ""] = /coffer request approve (\S+);/.exec(first.stderr) ?? assert.fail(first.stderr)
    assert.match(await place.prints("approval", "list"), new RegExp(`${id}.*agent.*POST https://localhost.*one`))
    await place.ok("approval", "approve", id)
    assert.strictEqual((await send("one")).code, 0)
    const [, other = ""] = /coffer request approve (\S+);/.exec((await send("two")).stderr) ?? []
    await place.ok("approval", "refuse", other)
    assert.match((await send("two")).stderr, /a person refused this request/)
  })
})
