import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const packages = join(import.meta.dirname, "../..")

const scripts = ["cli", "mcp", "server"].flatMap((name) => {
  const folder = join(packages, name, "dist/bundle")
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".cjs"))
    .map((file) => join(folder, file))
})

/** Prints whether V8 takes the cache. In a process of its own: the flags of a test's process are other ones. */
const take = `
  const [file] = process.argv.slice(1)
  const { readFileSync } = require("node:fs")
  const { Script } = require("node:vm")
  const cachedData = readFileSync(file.replace(/cjs$/, "cache"))
  console.log(new Script(readFileSync(file, "utf8"), { filename: file, cachedData }).cachedDataRejected)
`

describe("the code cache", () => {
  it("is there for each script that starts a program or a thread", () => {
    assert.lengthOf(scripts, 8)
  })

  it.each(scripts)("is taken by V8: %s", (file) => {
    assert.strictEqual(execFileSync(process.execPath, ["-e", take, file], { encoding: "utf8" }), "false\n")
  })
})
