import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const refusal = async (...args: ReadonlyArray<string>) => {
  const { code, stderr } = await place.home.coffer(args)
  assert.strictEqual(code, 2, stderr)
  return stderr
}

describe("a place as an argument", () => {
  it("names the project of each command of projects, with its organization", async () => {
    await ok("project", "create", "acme/shop")
    assert.include(await prints("project", "get", "acme/shop"), "shop")
    await ok("project", "update", "acme/shop", "--strict")
    assert.strictEqual(
      await prints("env", "list", "acme/shop", "--json"),
      await prints("env", "list", "-p", "shop", "-j")
    )
    assert.strictEqual(await prints("project", "rename", "acme/shop", "store"), "project shop is now called store\n")
    assert.strictEqual(await prints("project", "rename", "acme/store", "shop"), "project store is now called shop\n")
    assert.match(await refusal("project", "rename", "shop", "acme/store"), /the new name is a name alone/)
    await ok("project", "delete", "acme/shop", "--yes")
    await ok("project", "restore", "acme/shop")
    assert.match(await refusal("project", "get", "acme/shop", "--project", "webshop"), /both name the project/)
  })

  it("names the source of a copy, in the same project alone", async () => {
    await ok("secret", "set", "A", "one")
    await ok("env", "create", "copy", "--from", "acme/webshop/dev")
    assert.strictEqual(await prints("get", "A", "-e", "copy"), "one")
    assert.match(
      await refusal("env", "create", "webshop/other", "--from", "shop/dev"),
      /two environments of one project/
    )
  })

  it("names where a directory is set up, and what doctor looks at", async () => {
    await ok("init", "acme/webshop/dev", "--force")
    assert.match(
      await refusal("init", "acme/webshop/dev", "--org", "other", "--force"),
      /name two different organizations/
    )
    assert.match(await prints("doctor", "webshop/prod"), /rights\tuse, read, write, admin in acme\/webshop\/prod/)
  })

  it("binds an account to one project", async () => {
    assert.match(
      await refusal("service-account", "create", "wide", "--at", "*/prod"),
      /binds the account to one project/
    )
    await ok("service-account", "create", "here", "--at", "*")
    const { data } = JSON.parse(await prints("service-account", "list", "--json"))
    assert.deepStrictEqual(
      data.map(({ name, project }: Record<string, string>) => [name, project]),
      [["here", "webshop"]]
    )
  })

  it("selects the events of a webhook", async () => {
    const create = (...places: ReadonlyArray<string>) =>
      ok("webhook", "create", "https://hooks.example.com/a", "--event", "secret.*", ...places)
    await create("--at", "prod", "--at", "*/{dev,staging}", "--at", "acme/web-*/dev")
    const { data } = JSON.parse(await prints("webhook", "list", "--json"))
    assert.deepStrictEqual(data[0].environments, ["webshop/prod", "{dev,staging}", "web-*/dev"])
    const wrong = ["webhook", "create", "https://hooks.example.com/b", "--event", "secret.*"]
    assert.match(await refusal(...wrong, "--at", "prod", "--environment", "dev"), /--at and --environment say the same/)
    assert.match(await refusal(...wrong, "--at", "acme/a/dev", "--at", "other/a/dev"), /places of one organization/)
    assert.match(await refusal(...wrong, "--at", "a/b/c/d"), /--at must be a place or a pattern/)
  })
})

describe("coffer in and coffer out", () => {
  it("are coffer login and coffer logout", async () => {
    const asked = await place.home.coffer(["in", "--email", "new@example.com"])
    assert.strictEqual(asked.code, 0, asked.stderr)
    assert.include(asked.stdout, "continue with: coffer login --email new@example.com --code CODE")
    assert.include(await prints("login", "--help"), "coffer in is the same")
    assert.match(await prints("out", "--server-url", "http://127.0.0.1:1"), /there is no session at/)
  })
})
