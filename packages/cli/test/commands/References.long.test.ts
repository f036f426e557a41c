import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place
const coffer = (...args: ReadonlyArray<string>) => place.home.coffer([...args])

describe("values that refer to others", () => {
  it("are written with --expand, printed as what they lead to, and with --raw as they were written", async () => {
    await ok("secret", "set", "PASSWORD", "p$w")
    await ok("secret", "set", "URL", "--expand", "db://app:${PASSWORD}@db/$${x}")
    assert.strictEqual(await prints("secret", "get", "URL"), "db://app:p$w@db/${x}")
    assert.strictEqual(await prints("secret", "get", "URL", "--raw"), "db://app:${PASSWORD}@db/$${x}")
    assert.match(await prints("secret", "references", "PASSWORD"), /^referred to by\tdev\tURL$/m)
    assert.match(await prints("secret", "export", "--format", "docker"), /^URL=db:\/\/app:p\$w@db\/\$\{x\}$/m)
    assert.strictEqual(await prints("run", "--", "printenv", "URL"), "db://app:p$w@db/${x}\n")
  })

  it("stay references when they are renamed", async () => {
    await ok("secret", "rename", "URL", "DATABASE_URL")
    assert.strictEqual(await prints("secret", "get", "DATABASE_URL", "--raw"), "db://app:${PASSWORD}@db/$${x}")
    await ok("secret", "rename", "DATABASE_URL", "URL")
  })

  it("keep what they refer to, until --force removes it; then run starts nothing, and names each of them", async () => {
    await ok("secret", "set", "LINK", "--expand", "${URL}")
    const kept = await coffer("secret", "delete", "PASSWORD", "--yes")
    assert.deepStrictEqual([kept.code, kept.stdout], [1, ""])
    assert.match(kept.stderr, /^coffer: URL refers to secret PASSWORD: change URL first, /)
    await ok("secret", "delete", "PASSWORD", "--yes", "--force")
    const refused = await coffer("run", "--", "echo", "started")
    assert.deepStrictEqual([refused.code, refused.stdout], [125, ""])
    assert.match(
      refused.stderr,
      /LINK refers to URL, which refers to PASSWORD, which does not exist; URL refers to PASSWORD, which does not exist/
    )
    for (const args of [["export"], ["get", "URL"], ["get", "URL", "LINK"]]) {
      const { code, stderr, stdout } = await coffer("secret", ...args)
      assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
      assert.match(stderr, /URL refers to PASSWORD, which does not exist/)
    }
    assert.notMatch(await prints("secret", "export", "--format", "json", "--except", "LINK,URL"), /LINK|URL/)
    const one = await coffer("secret", "export", "--except", "LINK")
    assert.deepStrictEqual([one.code, one.stdout], [1, ""])
  })

  it("keep an environment that they refer to, until --force removes it", async () => {
    await ok("env", "create", "shared")
    await ok("secret", "set", "NAME", "shop", "--env", "shared")
    await ok("secret", "set", "SHOP", "--expand", "${shared:NAME}")
    const kept = await coffer("env", "delete", "shared", "--yes")
    assert.deepStrictEqual([kept.code, kept.stdout], [1, ""])
    assert.match(kept.stderr, /^coffer: dev:SHOP refers to secrets of environment shared: /)
    await ok("env", "delete", "shared", "--yes", "--force")
  })
})
