/**
 * Keeps the compiled SQLite where prebuild-install keeps what it has downloaded. On the same machine, the next installation
 * of this version for this version of Node takes it from there, and compiles nothing.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname } from "node:path"

const path = createRequire(import.meta.url).resolve("better-sqlite3/package.json")
const require = createRequire(path)
const configOf = require("prebuild-install/rc.js")
const { cachedPrebuild, getDownloadUrl } = require("prebuild-install/util.js")

const pkg = require(path)
const kept = cachedPrebuild(getDownloadUrl({ ...configOf(pkg), pkg }))

if (!existsSync(kept)) {
  mkdirSync(dirname(kept), { recursive: true })
  const draft = `${kept}.${process.pid}`
  const words = ["-czf", draft, "-C", dirname(path), "build/Release/better_sqlite3.node"]
  const { status } = spawnSync("tar", words, { stdio: "inherit" })
  if (status === 0) renameSync(draft, kept)
  else rmSync(draft, { force: true })
}
