import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const value = " every byte\r\n\t\u{1f511}\n"

describe("secret rename", () => {
  it("stores the value under the new key and deletes the old one, by one revision", async () => {
    await place.home.coffer(["secret", "set", "OLD"], { input: value })
    const { stderr, stdout } = await ok("secret", "rename", "OLD", "NEW")
    assert.strictEqual(stdout, "OLD is now NEW in webshop/dev, as version 1\n")
    assert.strictEqual(stderr, "coffer: undo: coffer env revert dev --to 1\n")
    assert.strictEqual(await prints("secret", "get", "NEW"), value)
    assert.match(await prints("secret", "list"), /^NEW\t1\t[^\n]*\n$/)
    assert.match(await prints("env", "revisions", "--limit", "1"), /^2\t.*\tNEW created, OLD deleted$/m)

    await ok("env", "revert", "--env", "dev", "--to", "1", "--yes")
    assert.strictEqual(await prints("secret", "get", "OLD"), value)
  })

  it("changes nothing where the new key is there already, or the old one is not", async () => {
    await ok("secret", "set", "TAKEN", "kept")
    const taken = await place.home.coffer(["secret", "rename", "OLD", "TAKEN"])
    assert.deepStrictEqual([taken.code, taken.stdout], [1, ""])
    assert.match(taken.stderr, /^coffer: TAKEN is in webshop\/dev already, and nothing was changed; /)
    assert.strictEqual(await prints("secret", "get", "TAKEN"), "kept")
    const absent = await place.home.coffer(["secret", "rename", "NOT_THERE", "FREE"])
    assert.deepStrictEqual([absent.code, absent.stdout], [4, ""])
    assert.match(absent.stderr, /secret NOT_THERE does not exist/)
    assert.strictEqual((await place.home.coffer(["secret", "rename", "OLD", "OLD"])).code, 2)
  })
})
