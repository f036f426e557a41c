import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Desk, Server } from "../support/Programs.js"

let server: Server
let desk: Desk

const ok = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await desk.coffer(args)
  assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
  return { stderr, stdout }
}

const json = async (...args: ReadonlyArray<string>) => JSON.parse((await ok(...args, "--json")).stdout)

beforeAll(async () => {
  server = await Server.start()
  desk = await server.login("root@example.com")
  await ok("org", "create", "acme")
  await ok("project", "create", "webshop", "--org", "acme")
  await ok("init", "--org", "acme", "--project", "webshop", "--env", "dev")
  await ok("secret", "set", "API_KEY", "first")
}, 300_000)

afterAll(async () => {
  desk?.remove()
  await server?.stop()
})

describe("a service account", () => {
  it("has its key printed once, alone on standard output", async () => {
    const { stderr, stdout } = await ok("service-account", "create", "ci", "--no-reveal")
    assert.match(stdout, /^svc_sa_[A-Za-z0-9]{49}\n$/)
    assert.match(stderr, /^coffer: .*shown this once.*SERVICE_API_KEY\n$/)
    assert.notInclude(stderr, "svc_sa_")
    const [account] = (await json("service-account", "list")).data
    assert.include(account, { name: "ci", reveal: false, project: null })
    assert.notProperty(account, "api_key")

    const key = { SERVICE_API_KEY: stdout.trim() }
    assert.include((await desk.coffer(["whoami"], { env: key })).stdout, "service_account")
    await ok(
      "acl",
      "grant",
      "--service-account",
      account.id,
      "--project-pattern",
      "*",
      "--env-pattern",
      "*",
      "--permission",
      "read"
    )
    const read = await desk.coffer(["secret", "get", "API_KEY"], { env: key })
    assert.strictEqual(read.code, 1)
    assert.match(read.stderr, /reveal: false/)

    const rotated = await json("service-account", "rotate", account.id)
    assert.match(rotated.api_key, /^svc_sa_/)
    const old = await desk.coffer(["whoami"], { env: key })
    assert.strictEqual(old.code, 3)
    await ok("service-account", "revoke", account.id, "--yes")
    assert.deepStrictEqual((await json("acl", "list")).data, [])
  })

  it("is scoped by the flag alone, not by service.yml", async () => {
    await ok("service-account", "create", "wide")
    await ok("service-account", "create", "scoped", "--project", "webshop")
    const projects = (await json("service-account", "list")).data.map(
      (account: { name: string; project: string | null }) => [account.name, account.project]
    )
    assert.sameDeepMembers(projects, [
      ["wide", null],
      ["scoped", "webshop"]
    ])
  })
})

describe("access rules", () => {
  it("are revoked by subject, those that match and no others", async () => {
    await ok("member", "invite", "grace@example.com")
    const grant = (pattern: string) =>
      json(
        "acl",
        "grant",
        "--email",
        "Grace@example.com",
        "--project-pattern",
        "webshop",
        "--env-pattern",
        pattern,
        "--permission",
        "read"
      )
    const [dev, prod] = [await grant("dev"), await grant("prod")]
    const { stdout } = await ok("acl", "revoke", "--email", "grace@example.com", "--env-pattern", "prod", "--yes")
    assert.include(stdout, prod.id)
    assert.deepStrictEqual(
      (await json("acl", "list")).data.map((rule: { id: string }) => rule.id),
      [dev.id]
    )
    const explained = await json("acl", "explain", "--email", "grace@example.com")
    assert.deepStrictEqual(explained.allowed, ["read"])
    await ok("acl", "revoke", dev.id, "--yes")
    const both = await desk.coffer(["acl", "revoke", dev.id, "--email", "grace@example.com", "--yes"])
    assert.strictEqual(both.code, 2)
  })
})

describe("the audit log", () => {
  it("is listed whole, page after page, in one document", async () => {
    const keys = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`KEY_${index}`, String(index)]))
    const { code, stderr } = await desk.shell(`cat > many.json && $COFFER secret import many.json --env staging`, {
      input: JSON.stringify(keys)
    })
    assert.strictEqual(code, 0, stderr)
    const page = await json("audit", "list", "--action", "secret.set", "--limit", "1")
    assert.strictEqual(page.pagination.total, 131)
    const all = (await json("audit", "list", "--action", "secret.set", "--all")).data
    assert.lengthOf(all, 131)
    assert.strictEqual(new Set(all.map((entry: { seq: number }) => entry.seq)).size, 131)
    const lines = (await ok("audit", "list", "--action", "secret.set", "--all")).stdout.trimEnd().split("\n")
    assert.lengthOf(lines, 131)
    const none = await json("audit", "list", "--action", "org.delete", "--all")
    assert.deepStrictEqual(none, { data: [] })
  })

  it("is verified, also against a head that was kept", async () => {
    const { stdout } = await ok("audit", "verify")
    const [, seq = "", chain = ""] = /--seq (\d+) --chain ([0-9a-f]{64})/.exec(stdout) ?? []
    assert.isTrue((await json("audit", "verify", "--seq", seq, "--chain", chain)).valid)
    const forged = await desk.coffer(["audit", "verify", "--seq", seq, "--chain", "0".repeat(64)])
    assert.strictEqual(forged.code, 1)
    assert.match(forged.stderr, /the audit log of acme was changed/)
  })
})

describe("every command that destroys", () => {
  const id = "00000000-0000-7000-8000-000000000000"
  it.concurrent.each([
    ["org", "delete"],
    ["project", "delete"],
    ["environment", "delete", "dev"],
    ["secret", "delete", "API_KEY"],
    ["secret", "destroy", "API_KEY", "--versions", "1"],
    ["member", "remove", "root@example.com"],
    ["acl", "revoke", id],
    ["service-account", "revoke", id],
    ["session", "end", "--all"]
  ])("needs --yes where nobody can be asked: %s %s", async (...args) => {
    const { code, stderr } = await desk.coffer(args)
    assert.strictEqual(code, 2)
    assert.match(stderr, /add --yes/)
  })

  it("asks at a terminal", async () => {
    const ask = (answer: string) =>
      desk.shell(`(sleep 2; printf '${answer}\\r') | script -qec "$COFFER secret delete API_KEY" /dev/null`)
    const [no] = await Promise.all([ask("n")])
    assert.match(no.stdout, /Delete API_KEY from webshop\/dev\? \[y\/N\]/)
    assert.match(no.stdout, /nothing was changed/)
    assert.strictEqual((await ok("secret", "get", "API_KEY")).stdout, "first")
  })
})

describe("somebody who leaves", () => {
  const signed = { code: 0 }

  beforeAll(async () => {
    await ok("member", "invite", "mallory@example.com", "--role", "admin")
    const mallory = await server.login("mallory@example.com")
    const made = await mallory.coffer(["service-account", "create", "her bot", "--org", "acme"])
    assert.include(made, signed, made.stderr)
    mallory.remove()
  })

  it("is removed with a word about the service accounts that they made", async () => {
    const { stderr, stdout } = await ok("member", "remove", "mallory@example.com", "--yes")
    assert.strictEqual(stdout, "mallory@example.com removed from acme\n")
    assert.match(
      stderr,
      /^coffer: service account her bot was made by this person and goes on; .*: coffer service-account rotate 'her bot' --org acme\n$/
    )
    const { data } = await json("audit", "list", "--action", "org.member_remove", "--limit", "1")
    assert.include(data[0].metadata, { email: "mallory@example.com", service_accounts: 1 })
  })

  it("is disabled, enabled and logged out everywhere by a superadmin, who is asked before", async () => {
    const away = await server.login("mallory@example.com")
    assert.include(await away.coffer(["whoami"]), signed)
    const unasked = await desk.coffer(["user", "disable", "mallory@example.com"])
    assert.deepStrictEqual([unasked.code, unasked.stdout], [2, ""])
    assert.include(await away.coffer(["whoami"]), signed)

    const { stderr, stdout } = await ok("user", "disable", "mallory@example.com", "--yes")
    assert.match(stdout, /^mallory@example\.com is disabled/)
    assert.match(stderr, /service account her bot .* rotate 'her bot' --org acme\n$/)
    assert.strictEqual((await away.coffer(["whoami"])).code, 3)
    assert.deepStrictEqual(
      (await json("user", "list", "--disabled")).data.map((user: { email: string }) => user.email),
      ["mallory@example.com"]
    )
    assert.isString((await json("user", "show", "mallory@example.com")).disabled_at)
    assert.strictEqual((await desk.coffer(["user", "show", "mallory@example.co"])).code, 4)
    assert.strictEqual((await desk.coffer(["user", "disable", "root@example.com", "--yes"])).code, 1)

    await ok("user", "enable", "mallory@example.com")
    const back = await server.login("mallory@example.com")
    assert.include(await back.coffer(["whoami"]), signed)
    assert.strictEqual((await back.coffer(["user", "list"])).code, 1)
    await ok("user", "end-sessions", "mallory@example.com", "--yes")
    assert.strictEqual((await back.coffer(["whoami"])).code, 3)
    away.remove()
    back.remove()
  })
})
