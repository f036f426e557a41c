import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const columnsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"))

describe("rules for some keys", () => {
  it("are granted and denied by patterns of keys, and listed with a column of their own", async () => {
    await ok("member", "invite", "grace@example.com", "--role", "developer")
    await ok("acl", "grant", "grace@example.com", "webshop/dev", "read")
    assert.lengthOf(columnsOf(await prints("acl", "list"))[0] ?? [], 7)
    const granted = await prints("acl", "grant", "grace@example.com", "dev", "write", "--key", "API_*")
    assert.match(granted, /^grace@example\.com has the permission write for webshop\/dev for keys API_\* \(rule /)
    const denied = await prints(
      "acl",
      "deny",
      "grace@example.com",
      "webshop/*",
      "read",
      "--key",
      "STRIPE_*",
      "--for",
      "4h"
    )
    assert.match(denied, /^grace@example\.com is denied read for webshop\/\* for keys STRIPE_\* until .* \(rule /)
    const rules = columnsOf(await prints("acl", "list")).map((line) => [line[4], line[7]])
    assert.sameDeepMembers(rules, [
      ["read", "all"],
      ["write", "API_*"],
      ["denies read", "STRIPE_*"]
    ])
  })

  it("are explained for an environment and for a key, and stand in the table and in the list of who can", async () => {
    const explain = async (...key: ReadonlyArray<string>) =>
      prints("acl", "explain", "grace@example.com", "dev", ...key)
    assert.match(await explain(), /^allowed in webshop\/dev: use; for some keys: read, write\n/)
    assert.match(await explain("--key", "API_KEY"), /^allowed in webshop\/dev for API_KEY: use, read, write\n/)
    const stripe = await explain("--key", "STRIPE_KEY")
    assert.match(stripe, /^allowed in webshop\/dev for STRIPE_KEY: use\n/)
    assert.match(stripe, /denies read for keys STRIPE_\* until/)
    assert.match(
      await prints("acl", "table", "grace@example.com"),
      /^webshop\/dev\tuse, write for some keys\trule webshop\/dev for keys API_\*, limited by rules that deny STRIPE_\*$/m
    )
    const who = async (...key: ReadonlyArray<string>) => prints("acl", "who", "dev", "--permission", "write", ...key)
    assert.match(await who(), /^grace@example\.com, invited\twrite\trule webshop\/dev for keys API_\*/m)
    assert.match(await who("--key", "API_KEY"), /^grace@example\.com/m)
    assert.notMatch(await who("--key", "OTHER"), /grace/)
  })

  it("refuse admin for some keys, and note that a denial waits for another role of an owner", async () => {
    const { code, stderr } = await place.home.coffer([
      "acl",
      "grant",
      "grace@example.com",
      "dev",
      "admin",
      "--key",
      "A_*"
    ])
    assert.strictEqual(code, 1)
    assert.match(stderr, /admin is for all keys of an environment; grant write for A_\*/)
    const own = await ok("acl", "deny", "ada@example.com", "dev", "use", "--key", "API_*")
    assert.match(own.stderr, /ada@example\.com is owner of acme: no rule takes from this role/)
    assert.match(
      await prints("acl", "explain", "ada@example.com", "dev"),
      /limited by the role owner, which no rule takes from/
    )
  })

  it("who has nothing but a denial has no access", async () => {
    await ok("member", "invite", "linus@example.com", "--role", "developer")
    await ok("acl", "deny", "linus@example.com", "webshop/*", "use")
    const [line] = columnsOf(await prints("member", "list")).filter(([first]) => first === "linus@example.com")
    assert.strictEqual(line?.[4], "none yet")
  })

  it("are revoked with their place, and those that deny by their keys alone", async () => {
    const { code, stderr } = await place.home.coffer(["acl", "revoke", "grace@example.com", "webshop/*", "--yes"])
    assert.strictEqual(code, 4)
    assert.match(stderr, /are for other keys, or deny: revoke one by --key 'STRIPE_\*' or by its id/)
    const revoke = (...words: ReadonlyArray<string>) => prints("acl", "revoke", "grace@example.com", ...words, "--yes")
    assert.match(
      await revoke("webshop/*", "--key", "STRIPE_*"),
      /^revoked the denial of read of grace@example\.com for webshop\/\* for keys STRIPE_\* \(rule /
    )
    assert.match(
      await revoke("dev", "--key", "API_*"),
      /^revoked write of grace@example\.com for webshop\/dev for keys API_\*/
    )
    assert.match(await revoke("dev", "--key", "*"), /^revoked read of grace@example\.com for webshop\/dev \(rule /)
  })
})
