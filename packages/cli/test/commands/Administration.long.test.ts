import { assert, beforeAll, describe, it } from "vitest"
import { TestHome } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("root@example.com")
const { ok } = place

const json = async (...args: ReadonlyArray<string>) => JSON.parse((await ok(...args, "--json")).stdout)

beforeAll(async () => {
  await ok("secret", "set", "API_KEY", "first")
})

/** The fields of an audit entry that the tests look at. */
interface Entry {
  readonly id: string
  readonly org_id: string | null
  readonly action: string
  readonly resource_type: string
  readonly actor_id: string | null
  readonly actor_name: string
  readonly created_at: string
  readonly metadata: {
    readonly project?: string
    readonly env?: string
    readonly key?: string
    readonly keys?: ReadonlyArray<{ readonly key: string }>
  }
}

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
    assert.include((await place.home.coffer(["whoami"], { env: key })).stdout, "service_account")
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
    const read = await place.home.coffer(["secret", "get", "API_KEY"], { env: key })
    assert.strictEqual(read.code, 1)
    assert.match(read.stderr, /reveal: false/)

    const rotated = await json("service-account", "rotate", account.id)
    assert.match(rotated.api_key, /^svc_sa_/)
    const old = await place.home.coffer(["whoami"], { env: key })
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
    assert.deepStrictEqual(explained.allowed, ["use", "read"])
    await ok("acl", "revoke", dev.id, "--yes")
    const both = await place.home.coffer(["acl", "revoke", dev.id, "--email", "grace@example.com", "--yes"])
    assert.strictEqual(both.code, 2)
  })

  it("are given to groups, whose members have them", async () => {
    await ok("group", "create", "backend")
    const both = ["grace@example.com", "root@example.com"]
    assert.include((await ok("group", "add", "backend", ...both)).stdout, both.join(", "))
    const grant = "--project-pattern webshop --env-pattern staging --permission write".split(" ")
    const rule = await json("acl", "grant", "--group", "backend", ...grant)
    assert.include(rule, { subject_type: "group", group: "backend" })
    assert.include((await ok("acl", "list")).stdout, "group backend")
    const subject = ["--email", "grace@example.com"]
    const explained = (await ok("acl", "explain", ...subject, "--env", "staging")).stdout
    assert.match(explained, /the rule \S+ of the group backend gives write/)
    assert.match((await ok("acl", "table", ...subject)).stdout, /rule webshop\/staging, of the group backend/)

    await ok("group", "rename", "backend", "platform")
    await ok("group", "remove", "platform", "grace@example.com")
    const { data } = await json("group", "members", "platform")
    assert.deepStrictEqual(
      data.map(({ email }: { email: string }) => email),
      ["root@example.com"]
    )
    const again = await place.home.coffer(["group", "remove", "platform", "grace@example.com"])
    assert.deepStrictEqual([again.code, again.stderr.includes("coffer group members")], [4, true])
    const mapping = ["cn=ops,dc=example,dc=com", "platform"]
    assert.include((await ok("group", "map", ...mapping)).stdout, mapping.join(" at the provider counts as the group "))
    const mapped = await ok("group", "mappings")
    assert.include(mapped.stdout, mapping.join("\t"))
    assert.include(mapped.stderr, "SERVICE_OIDC_GROUPS_CLAIM is not set")
    await ok("group", "unmap", ...mapping)
    const unmapped = await place.home.coffer(["group", "unmap", ...mapping])
    assert.deepStrictEqual([unmapped.code, unmapped.stderr.includes("coffer group mappings")], [4, true])
    const [group] = (await json("group", "list")).data
    assert.include(group, { name: "platform", members: 1, rules: 1 })
    const two = await place.home.coffer(["acl", "grant", "--group", "platform", ...subject, ...grant])
    assert.strictEqual(two.code, 2)
    await ok("acl", "revoke", "--group", "platform", "--yes")
    await ok("group", "delete", "platform", "--yes")
    assert.deepStrictEqual((await json("group", "list")).data, [])
  })

  it("end after a while or at a time, and say so", async () => {
    const words = "acl grant --email grace@example.com --project-pattern webshop --env-pattern * --permission read"
    const line = words.split(" ")
    const before = Date.now()
    const { expires_at } = await json(...line, "--expires", "4h")
    assert.closeTo(Date.parse(expires_at) - before, 4 * 3_600_000, 60_000)
    const end = new Date(before + 9 * 86_400_000).toISOString()
    assert.include((await ok(...line, "--expires", end)).stdout, `webshop/* until ${end} (rule `)
    for (const shown of [
      ["list"],
      ["explain", "--email", "grace@example.com", "--env", "prod"],
      ["table", "--email", "grace@example.com"]
    ]) {
      assert.include((await ok("acl", ...shown)).stdout, end, shown.join(" "))
    }
    for (const wrong of ["4 hours", "soon", "0h", "2026-02-30"]) {
      const { code, stderr } = await place.home.coffer([...line, "--expires", wrong])
      assert.strictEqual(code, 2, wrong)
      assert.match(stderr, /--expires must be a time such as 4h or 7d/, wrong)
    }
    const past = await place.home.coffer([...line, "--expires", "2020-01-01"])
    assert.strictEqual(past.code, 1)
    assert.match(past.stderr, /must be in the future/)
    assert.notProperty(await json(...line), "expires_at")
  })
})

describe("the audit log", () => {
  it("is listed whole, page after page, in one document", async () => {
    const keys = Object.fromEntries(Array.from({ length: 130 }, (_, index) => [`KEY_${index}`, String(index)]))
    const { code, stderr } = await place.home.shell(
      `cat > many.json && $COFFER secret import many.json --env staging`,
      {
        input: JSON.stringify(keys)
      }
    )
    assert.strictEqual(code, 0, stderr)
    const page = await json("audit", "list", "--action", "secret.set", "--limit", "1")
    assert.strictEqual(page.pagination.total, 131)
    const all = (await json("audit", "list", "--action", "secret.set", "--all")).data
    assert.lengthOf(all, 131)
    assert.strictEqual(new Set(all.map((entry: { seq: number }) => entry.seq)).size, 131)
    const lines = (await ok("audit", "list", "--action", "secret.set", "--all")).stdout.trimEnd().split("\n")
    assert.lengthOf(lines, 131)
    assert.match(lines[0] ?? "", /\troot@example\.com\tsecret\.set\tset KEY_\d+ \(version 1\) in webshop\/staging\t/)
    const csv = (await ok("audit", "list", "--action", "secret.set", "--all", "--csv")).stdout.split("\r\n")
    assert.lengthOf(csv, 133)
    assert.match(csv[0] ?? "", /^number,time,actor,/)
    assert.strictEqual((await place.home.coffer(["audit", "list", "--csv", "--json"])).code, 2)
    const none = await json("audit", "list", "--action", "org.delete", "--all")
    assert.deepStrictEqual(none, { data: [] })
  })

  it("is narrowed by project, environment, key, actor, action, kind and time", async () => {
    await ok("project", "create", "api")
    await ok("secret", "set", "API_KEY", "other", "--project", "api", "--env", "prod")
    await ok("secret", "set", "ONLY", "1", "--project", "api", "--env", "prod")
    const root = (await json("whoami")).id as string
    const all: ReadonlyArray<Entry> = (await json("audit", "list", "--all")).data
    const [newest] = all
    const middle = all[Math.floor(all.length / 2)]?.created_at ?? ""
    const keysOf = ({ metadata }: Entry) => [metadata.key, ...(metadata.keys ?? []).map(({ key }) => key)]
    const filters: ReadonlyArray<readonly [ReadonlyArray<string>, (entry: Entry) => boolean]> = [
      [["--project", "api"], ({ metadata }) => metadata.project === "api"],
      [["--env", "prod"], ({ metadata }) => metadata.env === "prod"],
      [["--key", "API_KEY"], (entry) => keysOf(entry).includes("API_KEY")],
      [["--project", "api", "--env", "prod", "--key", "ONLY"], (entry) => keysOf(entry).includes("ONLY")],
      [["--actor", "Root@example.com"], ({ actor_id }) => actor_id === root],
      [["--actor", root, "--action", "project.create"], ({ action }) => action === "project.create"],
      [["--resource-type", "project"], ({ resource_type }) => resource_type === "project"],
      [["--since", middle], ({ created_at }) => created_at >= middle],
      [["--until", middle], ({ created_at }) => created_at < middle],
      [["--since", "2020-01-01", "--until", "2999-12-31T00:00Z", "--limit", "1"], ({ id }) => id === newest?.id]
    ]
    for (const [options, fits] of filters) {
      const found: ReadonlyArray<Entry> = (
        await json("audit", "list", ...options, ...(options.includes("--limit") ? [] : ["--all"]))
      ).data
      assert.deepStrictEqual(found, all.filter(fits), options.join(" "))
      assert.isAbove(found.length, 0, options.join(" "))
    }
    // service.yml names webshop/dev, and narrows nothing.
    assert.isTrue(all.some(({ metadata }) => metadata.project === "api"))
  })

  it("is empty for an actor who has done nothing yet, and names the nearest where nobody is meant", async () => {
    await ok("member", "invite", "quiet@example.com")
    assert.deepStrictEqual((await json("audit", "list", "--actor", "quiet@example.com", "--all")).data, [])
    const quiet = await ok("audit", "list", "--actor", "quiet@example.com")
    assert.deepStrictEqual([quiet.stdout, quiet.stderr], ["", "coffer: there are no such entries\n"])
    for (const [option, word, says] of [
      ["--actor", "quite@example.com", /no actor has this id or name: did you mean quiet@example\.com\?/],
      ["--action", "secret.raed", /no action secret\.raed: did you mean secret\.read\?/],
      ["--resource-type", "secrets", /no resource type secrets: did you mean secret\?/],
      ["--since", "someday", /^coffer: --since must be a date, a date and time with a zone/],
      ["--until", "2026-13-01", /^coffer: --until must be a date, a date and time with a zone/],
      ["--actor", " ", /^coffer: --actor must be an id, an e-mail address or the name/],
      ["--after", "5", /^coffer: --after must be the next_cursor of an earlier page/]
    ] as const) {
      const { code, stderr, stdout } = await place.home.coffer(["audit", "list", option, word])
      assert.include([1, 2], code)
      assert.strictEqual(stdout, "")
      assert.match(stderr, says)
    }
  })

  it("of the whole server has logins and lockouts, for superadmins", async () => {
    const eve = new TestHome(place.server.url)
    assert.strictEqual((await eve.coffer(["login", "--email", "eve@example.com"])).code, 0)
    const wrong = await eve.coffer(["login", "--email", "eve@example.com", "--code", "000000"])
    assert.strictEqual(wrong.code, 3)
    eve.remove()
    const serverWide = async (...options: ReadonlyArray<string>): Promise<ReadonlyArray<Entry>> =>
      (await json("audit", "list", "--server", ...options, "--all")).data
    const logins = await serverWide("--action", "auth.verify")
    assert.isAbove(logins.length, 0)
    assert.isTrue(logins.every(({ action, org_id }) => action === "auth.verify" && org_id === null))
    const [failed, ...more] = await serverWide("--action", "auth.verify_failed", "--actor", "eve@example.com")
    assert.deepInclude(failed, { actor_name: "eve@example.com", org_id: null })
    assert.lengthOf(more, 0)
    const everything = await serverWide()
    assert.isTrue(everything.some(({ org_id }) => org_id !== null))
    assert.deepStrictEqual(
      await serverWide("--project", "webshop", "--key", "API_KEY"),
      everything.filter(({ metadata }) => metadata.project === "webshop" && metadata.key === "API_KEY")
    )
    assert.match(
      (await ok("audit", "verify", "--server")).stdout,
      /^the audit log of the server itself is whole: \d+ entries\n/
    )

    const both = await place.home.coffer(["audit", "list", "--server", "--org", "acme"])
    assert.deepStrictEqual([both.code, both.stdout], [2, ""])
    assert.match(both.stderr, /leave --org out/)
    const person = await place.server.login("plain@example.com")
    for (const call of ["list", "verify"]) {
      const refused = await person.coffer(["audit", call, "--server"])
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.match(refused.stderr, /superadmin/)
    }
    person.remove()
  })

  it("is verified, also against a head that was kept", async () => {
    const { stdout } = await ok("audit", "verify")
    const [, seq = "", chain = ""] = /--seq (\d+) --chain ([0-9a-f]{64})/.exec(stdout) ?? []
    assert.isTrue((await json("audit", "verify", "--seq", seq, "--chain", chain)).valid)
    const forged = await place.home.coffer(["audit", "verify", "--seq", seq, "--chain", "0".repeat(64)])
    assert.strictEqual(forged.code, 1)
    assert.match(forged.stderr, /the audit log of acme was changed/)
  })
})

describe("every command that destroys", () => {
  const id = "00000000-0000-7000-8000-000000000000"
  it.concurrent.each([
    ["org", "delete"],
    ["org", "leave"],
    ["project", "delete"],
    ["environment", "delete", "dev"],
    ["secret", "delete", "API_KEY"],
    ["secret", "destroy", "API_KEY", "--versions", "1"],
    ["member", "remove", "root@example.com"],
    ["acl", "revoke", id],
    ["group", "delete", "backend"],
    ["service-account", "revoke", id],
    ["session", "end", "--all"]
  ])("needs --yes where nobody can be asked: %s %s", async (...args) => {
    const { code, stderr } = await place.home.coffer(args)
    assert.strictEqual(code, 2)
    assert.match(stderr, /add --yes/)
  })

  it("asks at a terminal", async () => {
    const ask = (answer: string) =>
      place.home.shell(`(sleep 2; printf '${answer}\\r') | script -qec "$COFFER secret delete API_KEY" /dev/null`)
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
    const mallory = await place.server.login("mallory@example.com")
    const made = await mallory.coffer(["service-account", "create", "her bot", "--org", "acme"])
    assert.include(made, signed, made.stderr)
    mallory.remove()
  })

  it("is removed with a word about the service accounts that they made", async () => {
    const { stderr, stdout } = await ok("member", "remove", "mallory@example.com", "--yes")
    assert.strictEqual(stdout, "mallory@example.com removed from acme\n")
    assert.match(
      stderr,
      /^coffer: service account her bot was made by this person and stays valid; .*: coffer service-account rotate 'her bot' --org acme\n$/
    )
    const { data } = await json("audit", "list", "--action", "org.member_remove", "--limit", "1")
    assert.include(data[0].metadata, { email: "mallory@example.com", service_accounts: 1 })
  })

  it("is disabled, enabled and logged out everywhere by a superadmin, who is asked before", async () => {
    const away = await place.server.login("mallory@example.com")
    assert.include(await away.coffer(["whoami"]), signed)
    const unasked = await place.home.coffer(["user", "disable", "mallory@example.com"])
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
    assert.strictEqual((await place.home.coffer(["user", "show", "mallory@example.co"])).code, 4)
    assert.strictEqual((await place.home.coffer(["user", "disable", "root@example.com", "--yes"])).code, 1)

    await ok("user", "enable", "mallory@example.com")
    const back = await place.server.login("mallory@example.com")
    assert.include(await back.coffer(["whoami"]), signed)
    assert.strictEqual((await back.coffer(["user", "list"])).code, 1)
    await ok("user", "end-sessions", "mallory@example.com", "--yes")
    assert.strictEqual((await back.coffer(["whoami"])).code, 3)
    away.remove()
    back.remove()
  })
})
