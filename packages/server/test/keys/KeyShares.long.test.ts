import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const key = "0123456789abcdef".repeat(4)

/** Runs `coffer-server master-key` with some standard input, and without any setting. */
const masterKey = (words: ReadonlyArray<string>, input = "") =>
  new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve) => {
    const child = spawn(process.execPath, [bin, "master-key", ...words], { env: { PATH: process.env["PATH"] } })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text))
    child.stdin.on("error", () => undefined).end(input)
    child.once("close", (code) => {
      resolve({ code, ...said })
    })
  })

describe("coffer-server master-key", () => {
  it("splits the key on standard input, and combines what is left of the shares", async () => {
    const split = await masterKey(["split", "3/5"], `${key.toUpperCase()}\n`)
    assert.strictEqual(split.code, 0, split.err)
    const [, fingerprint] = /^5 shares .* fingerprint ([0-9a-f]{16}): any 3 of them/.exec(split.err) ?? []
    const [first = "", second = "", , fourth = "", fifth = ""] = split.out.trimEnd().split("\n")
    const combined = await masterKey(["combine"], `${fifth}\n\n${first.toLowerCase()}\n${fourth}`)
    assert.deepStrictEqual(combined, {
      code: 0,
      out: `${key}\n`,
      err: `the master key has the fingerprint ${fingerprint}\n`
    })
    const few = await masterKey(["combine"], `${first}\n${second}\n`)
    assert.deepStrictEqual(few, {
      code: 1,
      out: "",
      err: "coffer-server: 3 shares are needed, and 2 given: add 1 more\n"
    })
  })

  it("takes nothing but the numbers as arguments, and shows nothing of a bad key", async () => {
    const bad = await masterKey(["split", "2/3"], `${key}hunter2`)
    assert.deepStrictEqual(bad, {
      code: 1,
      out: "",
      err: "coffer-server: standard input holds no master key of 64 hexadecimal digits\n"
    })
    const wrong = [["split"], ["split", "1/3"], ["split", "4/3"], ["split", "3/256"], ["split", "3/5", key], ["join"]]
    const refused = await Promise.all([...wrong, ["combine", key]].map((words) => masterKey(words, key)))
    for (const { code, err, out } of refused) {
      assert.deepStrictEqual([code, out], [2, ""])
      assert.match(err, /^coffer-server: master-key takes split with K\/N/)
      assert.notInclude(err, key)
    }
  })
})
