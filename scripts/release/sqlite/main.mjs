/**
 * Makes the packages of SQLite for this system alone, or those that are named: `main.mjs OUT [NAME…]`. A release takes them from
 * the folder that COFFER_SQLITE_PACKAGES names.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../bundling.mjs"
import { time } from "../staging.mjs"
import { sqlitePackages } from "./packages.mjs"
import { installTools } from "./tools.mjs"

const [out, ...names] = process.argv.slice(2)
const manifest = JSON.parse(await readFile(new URL("package.json", root), "utf8"))
const work = await mkdtemp(join(tmpdir(), "coffer-sqlite-"))
try {
  const tools = await installTools(join(work, "tools"))
  if (tools === undefined)
    throw new Error("Zig or the headers of Node cannot be had: they take Python 3 with pip, and npm")
  const wanted = names.length === 0 ? {} : { names }
  const { tarballs } = await sqlitePackages({ ...wanted, manifest, time: time(), tools, work })
  await mkdir(out, { recursive: true })
  for (const [name, content] of Object.entries(tarballs)) {
    await writeFile(join(out, name), content)
    process.stdout.write(`${name}\n`)
  }
} finally {
  await rm(work, { recursive: true })
}
