import { Effect } from "effect"
import { assert, beforeAll, describe, it } from "vitest"
import { runInProcess, type TerminalOptions } from "../support/InProcess.js"
import type { TestHome } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const settings = { SERVICE_ORG: "acme", SERVICE_PROJECT: "webshop", SERVICE_ENV: "dev" }
const run = (home: TestHome, args: ReadonlyArray<string>, options: TerminalOptions = {}) =>
  Effect.runPromise(runInProcess(args, { ...home.environment, ...settings }, options))
const coffer = (args: ReadonlyArray<string>, options?: TerminalOptions) => run(place.home, args, options)
const ok = async (...args: ReadonlyArray<string>) => {
  const found = await coffer(args)
  assert.strictEqual(found.code, 0, `${args.join(" ")}: ${found.stderr}`)
  return found
}
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
    const made = await coffer(["env", "delete", "prod", "--yes", "--reason", "INC-12 old shop"])
    assert.strictEqual(made.code, 5, made.stderr)
    const [id = ""] = await idsOf("/requests")
    const terminal = await coffer(["request", "list"], { isTerminal: true, width: 80 })
    assert.strictEqual(terminal.code, 0)
    assert.include(terminal.stdout, id.slice(0, 8))
    assert.notInclude(terminal.stdout, id)
    const listed = (await ok("request", "list")).stdout
    for (const text of [id, "delete the environment webshop/prod", "ada@example.com", "INC-12"]) {
      assert.include(listed, text)
    }
    assert.include((await ok("request", "show", id.slice(0, 12))).stdout, id)
    assert.include((await ok("request", "withdraw", id.slice(0, 12))).stdout, "withdrawn")
  })

  it("lists the candidates if several records have it, and says where ids are shown if no record has it", async () => {
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
    const several = await coffer(["acl", "revoke", common, "--yes"])
    assert.strictEqual(several.code, 2)
    assert.include(several.stderr, `${common} is the beginning of the ids of ${ids.length} access rules: `)
    for (const id of ids) assert.include(several.stderr, id)
    const none = await coffer(["acl", "revoke", "ffff", "--yes"])
    assert.deepStrictEqual(
      [none.code, none.stderr],
      [4, "coffer: no access rule has an id that begins with ffff; coffer acl list shows them\n"]
    )
    const wrong = await coffer(["acl", "revoke", "xyz", "--yes"])
    assert.deepStrictEqual([wrong.code, /RULE_ID\|WHO must be the id of a rule/.test(wrong.stderr)], [2, true])
    assert.lengthOf(await idsOf("/acl"), ids.length)
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
      run(grace, [
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

describe("the name of a place that does not exist", () => {
  it("is noted where it would only give an empty answer, and refused elsewhere", async () => {
    const explained = await coffer(["acl", "explain", "--email", "ada@example.com", "--env", "stagin"])
    assert.match(explained.stderr, /environment webshop\/stagin does not exist, .*; did you mean staging\?/)
    const log = await ok("audit", "list", "--project", "webshopp", "--env", "dev")
    assert.match(log.stderr, /webshopp matches no project of acme now; did you mean webshop\?/)
    const hook = [
      "webhook",
      "create",
      "https://hooks.example.com/coffer",
      "--event",
      "secret.*",
      "--environment",
      "webshop/prodd"
    ]
    assert.match((await ok(...hook)).stderr, /^coffer: prodd matches no environment .*; did you mean prod\?\n/)
  })
})

describe("a pattern that matches nothing now", () => {
  it("is refused for a name that resembles another, and granted with --yes or after a question", async () => {
    const line = (to: string) => ["acl", "grant", "grace@example.com", `acme/${to}`, "read"]
    const refused = await coffer(line("webshop/prdo"))
    assert.strictEqual(refused.code, 4)
    assert.strictEqual(
      refused.stderr,
      "coffer: prdo matches no environment of project webshop now; did you mean prod? If the name is to come, add --yes\n"
    )
    assert.notInclude((await ok("acl", "list")).stdout, "prdo")
    const asked = (answer: string) =>
      Effect.runPromise(runInProcess(line("webshop/prdo"), place.home.environment, { answers: [answer] }))
    const declined = await asked("")
    assert.strictEqual(declined.code, 1, declined.stderr)
    assert.include(declined.stderr, "did you mean prod? Grant it for webshop/prdo nevertheless? [y/N] ")
    assert.notInclude((await ok("acl", "list")).stdout, "prdo")
    assert.include((await asked("y")).stdout, "has the permission read for webshop/prdo")
  })

  it("is noted with the nearest name, and kept", async () => {
    const grant = (project: string, env: string) =>
      ok("acl", "grant", "grace@example.com", `${project}/${env}`, "read", "-y")
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
    const revoked = await coffer([
      "acl",
      "revoke",
      "--email",
      "grace@example.com",
      "--project-pattern",
      "webshop-",
      "--yes"
    ])
    assert.match(revoked.stderr, /no access rule is about that; did you mean webshop\?/)
  })
})
