/** SQLite for the Node in the server's packages. */
import { fileURLToPath } from "node:url"
import { root } from "../../bundling.mjs"
import { below } from "../archive.mjs"
import { filesOf } from "../staging.mjs"

const installed = (name) => fileURLToPath(new URL(`node_modules/${name}/`, root))

/** SQLite, and what it loads. */
export const sqlitePackages = ["better-sqlite3", "bindings", "file-uri-to-path"]

/** The compiled module, in its package. */
export const compiled = "build/Release/better_sqlite3.node"

/** Matches the files of a package that are needed to run it: its modules, its manifest and its license. */
const runs = /^(lib\/.*|[^/]*\.js|package\.json|LICENSE.*)$/

/** Returns the files of `sqlitePackages` by path below `node_modules`. */
export const sqliteModules = async (addon) => {
  const packages = await Promise.all(
    sqlitePackages.map(async (name) => {
      const files = Object.entries(await filesOf(installed(name))).filter(([path]) => runs.test(path))
      return below(name, Object.fromEntries(files))
    })
  )
  return Object.assign({}, ...packages, { [`better-sqlite3/${compiled}`]: addon })
}
