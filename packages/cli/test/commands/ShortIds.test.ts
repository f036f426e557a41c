import { assert, beforeAll, describe, it } from "vitest"
import { Terminal } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok } = place
const call = (method: string, path: string, body?: unknown) =>
  place.server.call(method, `/api/orgs/acme${path}`, {
    token: place.home.token,
    ...(body === undefined ? {} : { body })
  })

/** The shortest beginning of an id that no other of the list has. */
const beginning = (id: string, ids: ReadonlyArray<string>) => {
  let length = 4
  while (ids.filter((each) => each.startsWith(id.slice(0, length))).length > 1) length++
  return id.slice(0, length)
}

const idsOf = async (path: string): Promise<ReadonlyArray<string>> =>
  (await call("GET", path)).data.map(({ id }: { readonly id: string }) => id)

beforeAll(async () => {
  await call("POST", "/members", { email: "grace@example.com", role: "developer" })
}, 300_000)

describe("the beginning of an id", () => {
  it("names an access rule, a service account, a webhook and a session, as the whole id does", async () => {
    const grant = (env: string) =>
      ok(
        "acl",
        "grant",
        "--email",
        "grace@example.com",
        "--project-pattern",
        "webshop",
        "--env-pattern",
        env,
        "--permission",
        "read"
      )
    await grant("dev")
    await grant("prod")
    const rules = await idsOf("/acl")
    const [rule = ""] = rules
    assert.include((await ok("acl", "revoke", beginning(rule, rules), "--yes")).stdout, `rule ${rule} revoked`)
    assert.notInclude(await idsOf("/acl"), rule)

    await call("POST", "/service-accounts", { name: "ci" })
    const accounts = await idsOf("/service-accounts")
    const [account = ""] = accounts
    assert.include((await ok("service-account", "revoke", beginning(account, accounts), "--yes")).stdout, "revoked")
    assert.notInclude(await idsOf("/service-accounts"), account)
  })

  it("names a request to look at and to withdraw, and a list shows beginnings where a terminal has little room", async () => {
    await call("PUT", "/projects/webshop/envs/prod/protection", { approvers: "owners", needed: 1, self: true })
    const made = await place.home.coffer(["env", "delete", "prod", "--yes", "--reason", "INC-12 old shop"])
    assert.strictEqual(made.code, 5, made.stderr)
    const [id = ""] = await idsOf("/requests")
    const terminal = Terminal.sized(place.home, 80, 40, ["request", "list"])
    assert.strictEqual(await terminal.ended(), 0)
    for (const text of [id.slice(0, 8), "delete the environment webshop/prod", "ada@example.com", "INC-12"]) {
      assert.include(terminal.screen, text)
    }
    assert.notInclude(terminal.screen, id)
    assert.include((await ok("request", "list")).stdout, id)
    assert.include((await ok("request", "show", id.slice(0, 12))).stdout, id)
    assert.include((await ok("request", "withdraw", id.slice(0, 12))).stdout, "withdrawn")
  })

  it("of several records lists the candidates, and of none says where ids are shown", async () => {
    const grant = (env: string) =>
      ok(
        "acl",
        "grant",
        "--email",
        "grace@example.com",
        "--project-pattern",
        "webshop",
        "--env-pattern",
        env,
        "--permission",
        "read"
      )
    await grant("dev")
    await grant("staging")
    const ids = await idsOf("/acl")
    // Ids begin with the time.
    const common = ids[0]?.slice(0, 4) ?? ""
    const several = await place.home.coffer(["acl", "revoke", common, "--yes"])
    assert.strictEqual(several.code, 2)
    assert.include(several.stderr, `${common} is the beginning of the ids of ${ids.length} access rules: `)
    for (const id of ids) assert.include(several.stderr, id)
    const none = await place.home.coffer(["acl", "revoke", "ffff", "--yes"])
    assert.deepStrictEqual(
      [none.code, none.stderr],
      [4, "coffer: no access rule has an id that begins with ffff; coffer acl list shows them\n"]
    )
    const wrong = await place.home.coffer(["acl", "revoke", "xyz", "--yes"])
    assert.deepStrictEqual([wrong.code, /RULE_ID must be a UUID/.test(wrong.stderr)], [2, true])
    assert.lengthOf(await idsOf("/acl"), ids.length)
  })

  it("is completed for requests and rules", async () => {
    const [rule = ""] = await idsOf("/acl")
    const { stdout } = await place.home.coffer(["__complete", "rule", rule.slice(0, 6)])
    assert.isString(stdout)
  })
})

describe("a request for access that waits already", () => {
  it("is named, and no second one is made", async () => {
    await call("POST", "/acl", {
      subject_type: "user",
      email: "grace@example.com",
      project_pattern: "webshop",
      env_pattern: "staging",
      permission: "read"
    })
    const grace = await place.server.login("grace@example.com")
    const ask = () =>
      grace.coffer([
        "access",
        "request",
        "--env",
        "acme/webshop/dev",
        "--permission",
        "write",
        "--for",
        "1h",
        "--reason",
        "INC-13"
      ])
    const first = await ask()
    assert.strictEqual(first.code, 0, first.stderr)
    const [, id = ""] = /request (\S+) asks/.exec(first.stdout) ?? []
    const second = await ask()
    assert.strictEqual(second.code, 0, second.stderr)
    assert.include(
      second.stdout,
      `request ${id} asks for write for 1h in webshop/dev already, and waits for approval until`
    )
    const waiting = await place.server.call("GET", "/api/orgs/acme/requests?kind=access", { token: grace.token })
    assert.lengthOf(waiting.data, 1)
    grace.remove()
  })
})

describe("a pattern that matches nothing now", () => {
  it("is noted with the nearest name, and kept", async () => {
    const grant = (project: string, env: string) =>
      ok(
        "acl",
        "grant",
        "--email",
        "grace@example.com",
        "--project-pattern",
        project,
        "--env-pattern",
        env,
        "--permission",
        "read"
      )
    const mistyped = await grant("webshopp", "dev")
    assert.strictEqual(mistyped.stderr, "coffer: webshopp matches no project of acme now; did you mean webshop?\n")
    assert.include(mistyped.stdout, "for webshopp/dev")
    const env = await grant("webshop", "stagin")
    assert.strictEqual(
      env.stderr,
      "coffer: stagin matches no environment of project webshop now; did you mean staging?\n"
    )
    assert.strictEqual((await grant("*", "{dev,staging}")).stderr, "")
    assert.strictEqual((await grant("later-*", "*")).stderr, "coffer: later-* matches no project of acme now\n")
    const revoked = await place.home.coffer([
      "acl",
      "revoke",
      "--email",
      "grace@example.com",
      "--project-pattern",
      "webshop-",
      "--yes"
    ])
    assert.match(revoked.stderr, /no access rule is about that; did you mean webshop\?/)
    const explained = await ok(
      "acl",
      "explain",
      "--email",
      "grace@example.com",
      "--project",
      "webshopp",
      "--env",
      "dev"
    )
    assert.include(explained.stderr, "webshopp matches no project of acme now; did you mean webshop?")
  })
})
