/**
 * Installs the programs that only tests, benchmarks and pictures need, such as a browser and PostgreSQL, into packages/node_modules.
 * They have a lockfile of their own, packages/package-lock.json, so that `npm ci && npm start` does without them. Scripts that need
 * one of them import this file first.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../packages/", import.meta.url))
const stamp = join(folder, "node_modules/.installed")

const wanted = createHash("sha256")
  .update(readFileSync(join(folder, "package-lock.json")))
  .digest("hex")

const installed = () => {
  try {
    return readFileSync(stamp, "utf8")
  } catch {
    return undefined
  }
}

if (installed() !== wanted) {
  process.stderr.write("install the tools of the tests into packages/node_modules (350 MB, half a minute)\n")
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit"], { cwd: folder, stdio: "inherit" })
  if (status !== 0) process.exit(1)
  writeFileSync(stamp, wanted)
}

/** Resolves and loads a tool for a script, which is not below packages. */
export const tools = createRequire(join(folder, "package.json"))
