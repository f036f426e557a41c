import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

describe("acl table", () => {
  it("shows what a subject may do in each environment, and why; without one, what the caller may do", async () => {
    await ok("member", "invite", "grace@example.com", "--role", "developer")
    const email = ["--email", "grace@example.com"]
    assert.match(await prints("acl", "table", ...email), /^webshop\/dev\tnone\t-\n/)
    const pattern = ["--project-pattern", "web*", "--env-pattern", "{dev,staging}"]
    await ok("acl", "grant", ...email, ...pattern, "--permission", "write")
    assert.deepStrictEqual((await prints("acl", "table", ...email)).split("\n"), [
      "webshop/dev\twrite\trule web*/{dev,staging}",
      "webshop/staging\twrite\trule web*/{dev,staging}",
      "webshop/prod\tnone\t-",
      ""
    ])
    assert.match(await prints("acl", "table"), /^webshop\/dev\tadmin\trole owner$/m)
    await ok("service-account", "create", "ci")
    const { data } = JSON.parse(await prints("acl", "table", "--service-account", "ci", "--json"))
    assert.deepStrictEqual(data[0], { project: "webshop", env: "dev", permission: null })
  })

  it("reads all pages", async () => {
    const { token } = place.home
    for (let index = 0; index < 34; index++) {
      await place.server.call("POST", "/api/orgs/acme/projects", { body: { name: `more-${index}` }, token })
    }
    assert.lengthOf(JSON.parse(await prints("acl", "table", "--json")).data, 105)
  })

  it("names one subject at most", async () => {
    const both = ["acl", "table", "--email", "a@example.com", "--service-account", "ci"]
    const { code, stderr } = await place.home.coffer(both)
    assert.strictEqual(code, 2)
    assert.match(stderr, /name one subject: either --email or --service-account/)
  })
})

describe("member list", () => {
  it("says to admins who has no access yet, and who was invited and has not come; to others it does not", async () => {
    await ok("member", "invite", "new@example.com", "--role", "developer")
    const lines = (await prints("member", "list")).split("\n").map((line) => line.split("\t"))
    const of = (email: string) => lines.find(([first]) => first === email)?.slice(4)
    assert.deepStrictEqual(of("new@example.com"), ["none yet", "invited"])
    assert.strictEqual(of("grace@example.com")?.[0], "yes")
    assert.strictEqual(of("ada@example.com")?.[0], "yes")
    assert.match(of("ada@example.com")?.[1] ?? "", /Z$/)
    const grace = await place.server.login("grace@example.com")
    try {
      const { stdout } = await grace.coffer(["member", "list", "--org", "acme", "--json"])
      assert.isTrue(
        JSON.parse(stdout).data.every((member: object) => !("has_access" in member || "last_seen_at" in member))
      )
    } finally {
      grace.remove()
    }
  })
})

describe("acl who", () => {
  it("lists who can, which role or rule gives it, and their last use", async () => {
    await ok("member", "invite", "alan@example.com", "--role", "developer")
    await ok("acl", "grant", "alan@example.com", "webshop/prod", "read", "--until", "2035-01-01")
    await ok("secret", "set", "API_KEY", "x", "--env", "prod")
    await prints("secret", "get", "API_KEY", "--env", "prod")
    const lines = (await prints("acl", "who", "webshop/prod")).split("\n").map((line) => line.split("\t"))
    const of = (email: string) => lines.find(([first]) => first?.startsWith(email))?.slice(1)
    assert.deepStrictEqual(of("alan@example.com"), ["read", "rule webshop/prod, until 2035-01-01 00:00 UTC", "-"])
    assert.deepStrictEqual(of("ada@example.com")?.slice(0, 2), ["admin", "role owner"])
    assert.match(of("ada@example.com")?.[2] ?? "", /Z$/)
    assert.strictEqual(
      await prints("acl", "review", "webshop/prod", "--note", "Q4"),
      "reviewed who has read in webshop/prod: 2 people, 0 accounts, 0 groups, 0 delegations\n"
    )
    assert.match(
      (await place.home.coffer(["acl", "who", "webshop/prod"])).stderr,
      /last reviewed by ada@example.com at/
    )
    const { data } = JSON.parse(await prints("acl", "who", "webshop/prod", "--permission", "write", "--json"))
    assert.deepStrictEqual(
      data.map(({ email }: { email: string }) => email),
      ["ada@example.com"]
    )
  })
})
