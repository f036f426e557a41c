import { execFileSync } from "node:child_process"
import { openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { until } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { prints } = place

const feed = async (input: string | Buffer, ...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await place.home.coffer(args, { input })
  assert.strictEqual(code, 0, stderr)
  return { stderr, stdout }
}

describe("- is standard input", () => {
  it.each([
    ["ARGUMENT", ["-"]],
    ["FILE", ["--file", "-"]],
    ["NOTHING", []]
  ])("of secret set: %s", async (key, args) => {
    const { stderr } = await feed("line one\nline two\n", "secret", "set", key, ...args)
    assert.strictEqual(stderr, "coffer: the value ends with a newline, which is stored too; printf writes none\n")
    assert.strictEqual(await prints("secret", "get", key), "line one\nline two\n")
  })

  it("behind -- is the value", async () => {
    await feed("not this", "secret", "set", "HYPHEN", "--", "-")
    assert.strictEqual(await prints("secret", "get", "HYPHEN"), "-")
  })

  it("of secret import, and is called so in what is wrong with it", async () => {
    await feed('{"IMPORTED": "1"}', "secret", "import", "-", "--format", "json")
    assert.strictEqual(await prints("secret", "get", "IMPORTED"), "1")
    const { code, stderr } = await place.home.coffer(["secret", "import", "-", "--format=env"], { input: "A=1\nB" })
    const nothing = "standard input has a mistake, so nothing was written; correct it and try again"
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, `coffer: standard input, line 2: is not KEY=value\ncoffer: ${nothing}\n`)
  })

  it("and a file of that name has a folder in front", async () => {
    writeFileSync(join(place.home.folder, "-"), "OF_FILE=1\n")
    await prints("secret", "import", "./-", "--format", "env")
    writeFileSync(join(place.home.folder, "-x.env"), "OF_ANOTHER=1\n")
    await prints("secret", "import", "--", "-x.env")
    assert.strictEqual(await prints("secret", "get", "OF_ANOTHER"), "1")
  })

  it("of secret export is standard output", async () => {
    const text = await prints("secret", "export", "--format", "json", "--output", "-")
    assert.strictEqual(text, await prints("secret", "export", "--format", "json"))
  })
})

describe("a file to import", () => {
  it("of 1,000,000 lines is refused with the first line beyond the limit", async () => {
    const lines = Array.from({ length: 1_000_000 }, (_, index) => `KEY_${index}=value\n`)
    writeFileSync(join(place.home.folder, "large.env"), lines.join(""))
    const { code, stderr } = await place.home.coffer(["secret", "import", "large.env"])
    const problem = "the file holds more than 2000 secrets, and no more can be written at once: split it"
    const nothing = "large.env has a mistake, so nothing was written; correct it and try again"
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, `coffer: large.env, line 2001: ${problem}\ncoffer: ${nothing}\n`)
  })

  it.each(["SIGINT", "SIGTERM"] as const)("that nobody writes to does not hold %s up", async (signal) => {
    const pipe = join(place.home.folder, `pipe-${signal}`)
    execFileSync("mkfifo", [pipe])
    const child = place.home.start(["secret", "import", pipe, "--format", "env"])
    // Opening succeeds when the client has opened its end.
    openSync(pipe, "w")
    child.kill(signal)
    await until(() => child.exitCode ?? child.signalCode ?? undefined, "the end of the client")
    assert.deepStrictEqual([child.exitCode, child.signalCode], [null, signal])
  })
})
