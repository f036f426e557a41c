import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok } = place

/** Words that the parser would take for an option of its own, or of the command. */
const options = [
  ...["--version", "-h", "--help", "--log-level=debug", "--log-level", "--wizard", "--completions", "--completions=sh"],
  ...["--", "-", "--json", "--env", "--env=prod", "--file", "-x", "--no-such", "", " ", "\n", "=", "--=", "ü -- é"]
]

describe("what stands behind --", () => {
  it("is the value, whatever it is", async () => {
    const text = fc.string({ unit: "binary", maxLength: 40 }).filter((drawn) => !drawn.includes("\0"))
    const texts = [
      ...options,
      ...fc.sample(
        fc.oneof(
          text,
          text.map((rest) => `-${rest}`)
        ),
        14
      )
    ]
    const left = texts.map((value, index) => ({ key: `K${index}`, value }))
    const next = async (): Promise<void> => {
      const one = left.pop()
      if (one === undefined) return
      const { stderr, stdout } = await ok("secret", "set", one.key, "--", one.value)
      assert.deepStrictEqual([stdout, stderr], [`${one.key} stored in webshop/dev as version 1\n`, ""])
      const found = await ok("secret", "get", "--", one.key)
      assert.strictEqual(found.stdout, one.value)
      return next()
    }
    await Promise.all([next(), next()])
  }, 240_000)

  it("stays an argument for other commands", async () => {
    for (const args of [["get"], ["versions"], ["delete", "--yes"]]) {
      const { code, stderr, stdout } = await place.home.coffer(["secret", ...args, "--", "--version"])
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.match(stderr, /^coffer: KEY: a secret key has 1 to 100 characters/)
    }
  })

  it("is what stands behind the first of them", async () => {
    const { code, stderr } = await place.home.coffer(["secret", "set", "FIRST", "--", "--", "--"])
    assert.strictEqual(code, 2)
    assert.match(stderr, /unexpected argument 3 of coffer secret set/)
  })
})

describe("in front of --", () => {
  it.each(["--version", "--log-level=debug", "--wizard", "--completions=bash"])(
    "%s is refused, and nothing is stored",
    async (option) => {
      const { code, stderr, stdout } = await place.home.coffer(["secret", "set", "REFUSED", option], { input: "piped" })
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.match(stderr, /^coffer: the value begins with a hyphen and may be a mistyped option;/)
      assert.strictEqual((await place.home.coffer(["secret", "get", "REFUSED"])).code, 4)
    }
  )

  it.each([
    ["KEY", "my", "SecretPhrase"],
    ["KEY", "my", "-SecretPhrase"],
    ["KEY", "my", "--secretphrase=SecretPhrase"],
    ["KEY", "--", "my", "SecretPhrase"],
    ["KEY", "--", "my", "--SecretPhrase"],
    ["KEY", "--SecretPhrase"],
    ["KEY", "--if-version", "SecretPhrase"],
    ["SecretPhrase=1"],
    ["-SecretPhrase", "KEY"]
  ])("no text of %s %s %s is in an error", async (...args) => {
    const { code, stderr, stdout } = await place.home.coffer(["secret", "set", ...args])
    assert.strictEqual(code, 2)
    assert.notMatch(stdout + stderr, /secretphrase/i)
    assert.match(stderr, /^coffer: [^\n]+\n$/)
  })
})
