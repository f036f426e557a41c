/** SQLite for the Node in the server's packages. */
import { execFile } from "node:child_process"
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../../bundling.mjs"
import { withoutHooks } from "../../sqlite.mjs"
import { below } from "../archive.mjs"
import { filesOf } from "../staging.mjs"

const installed = (name) => fileURLToPath(new URL(`node_modules/${name}/`, root))

/** SQLite, and what it loads. */
export const sqlitePackages = ["better-sqlite3", "bindings", "file-uri-to-path"]

/** The compiled module, in its package. */
export const compiled = "build/Release/better_sqlite3.node"

const isSource = (path) => !path.startsWith(join(installed("better-sqlite3"), "build"))

/**
 * Compiles the locked SQLite for a Node, to the same bytes in every folder.
 *
 * @param node the folder of its package, which has its headers
 */
export const compileSqlite = async (node) => {
  // Flags of the compiler cannot hold a path with a space.
  const folder = await mkdtemp(join(tmpdir(), "coffer-sqlite-"))
  try {
    await cp(installed("better-sqlite3"), folder, { recursive: true, filter: isSource })
    // It takes the place of the header of the same include guard.
    const header = join(folder, "node_object_wrap.h")
    const original = await readFile(join(node, "include/node/node_object_wrap.h"), "utf8")
    await writeFile(header, withoutHooks(original))
    const flags = `-g0 -ffile-prefix-map=${folder}=. -ffile-prefix-map=${node}=node`
    await promisify(execFile)("npm", ["run", "build-release"], {
      cwd: folder,
      env: {
        ...process.env,
        PATH: `${join(node, "bin")}:${process.env.PATH}`,
        npm_config_nodedir: node,
        JOBS: "max",
        CFLAGS: flags,
        CXXFLAGS: `${flags} -include ${header}`
      },
      maxBuffer: 64 * 1024 * 1024
    })
    await promisify(execFile)("strip", ["--strip-unneeded", join(folder, compiled)])
    return await readFile(join(folder, compiled))
  } finally {
    await rm(folder, { recursive: true })
  }
}

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
