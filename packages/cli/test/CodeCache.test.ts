import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { assert, describe, it } from "vitest"

const packages = join(import.meta.dirname, "../..")

const scripts = ["cli", "mcp", "server"].flatMap((name) => {
  const folder = join(packages, name, "dist/bundle")
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /-[A-Z0-9]{8}\.cjs$/.test(file))
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
    assert.lengthOf(scripts, 9)
  })

  it.each(scripts)("is taken by V8: %s", (file) => {
    assert.strictEqual(execFileSync(process.execPath, ["-e", take, file], { encoding: "utf8" }), "false\n")
  })

  it("is without the encryption of archives where secrets are read and programs run", () => {
    const withAge = scripts.filter((file) => readFileSync(file, "utf8").includes("age-encryption.org/v1"))
    assert.deepStrictEqual(
      withAge.map((file) => basename(file).replace(/-.*/, "")),
      ["Cli"]
    )
  })

  it("of another version of Node is replaced by one in the user's cache", () => {
    const folder = mkdtempSync(join(tmpdir(), "coffer-cache-"))
    const bundle = join(folder, "dist/bundle")
    for (const name of ["bin", "dist/bundle", "package.json"]) {
      cpSync(join(packages, "cli", name), join(folder, name), { recursive: true })
    }
    const started = (extension: string) =>
      readdirSync(bundle).filter((name) => name.startsWith("Cli-") && name.endsWith(extension))
    const [script = "", ...others] = started(".cjs")
    assert.deepStrictEqual(others, [])
    const base = join(bundle, script.replace(/\.cjs$/, ""))
    writeFileSync(`${base}.cache`, "made by another version of V8")
    const own = join(folder, ".cache/coffer/compiled", `${basename(base)}-${process.versions.v8}-${process.arch}`)
    const env = { HOME: folder }
    const help = () =>
      execFileSync(process.execPath, [join(folder, "bin/coffer.js"), "help"], { encoding: "utf8", env })
    const first = help()
    const { ino, mode } = statSync(own)
    assert.strictEqual(mode & 0o777, 0o600)
    assert.strictEqual(help(), first)
    assert.strictEqual(statSync(own).ino, ino, "it is made once")
    cpSync(own, `${base}.cache`)
    const isTaken = execFileSync(process.execPath, ["-e", take, `${base}.cjs`], { encoding: "utf8" })
    assert.strictEqual(isTaken, "false\n")
    rmSync(folder, { recursive: true })
  })
})
