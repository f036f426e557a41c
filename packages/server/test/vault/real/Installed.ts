import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import { file } from "./Client.js"
import { type Ran, run } from "./Run.js"

const home = process.env["HOME"] ?? ""

const must = async (program: string, words: ReadonlyArray<string>, cwd: string): Promise<Ran> => {
  const ran = await run(program, words, { HOME: home }, { cwd, seconds: 280 })
  assert.strictEqual(ran.code, 0, ran.err)
  return ran
}

/** Makes a folder with packages of the registry. */
export const install = async (folder: string, packages: ReadonlyArray<string>): Promise<void> => {
  mkdirSync(folder)
  file(folder, "package.json", JSON.stringify({ private: true }))
  const options = ["--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"]
  await must("npm", ["install", ...options, ...packages], folder)
}

/** Unpacks parts of a package, without what it depends on, into the `node_modules` of a folder. */
export const unpack = async (
  folder: string,
  name: string,
  version: string,
  parts: ReadonlyArray<string>
): Promise<void> => {
  const modules = join(folder, "node_modules", name)
  mkdirSync(modules, { recursive: true })
  const { out } = await must("npm", ["pack", "--silent", `${name}@${version}`], folder)
  const paths = parts.map((part) => `package/${part}`)
  await must("tar", ["-xzf", out.trim(), "-C", modules, "--strip-components=1", ...paths], folder)
}
