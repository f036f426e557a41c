/**
 * Compiles SQLite once more where Node would abort with what npm installed. Since Node 24.19, the class for objects of modules has
 * hooks for the end of an environment. better-sqlite3 12 destroys such objects in garbage collections, where there is no
 * environment, and removing the hook aborts the process then. The build runs this; it does nothing where there are no hooks.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const addon = new URL("../node_modules/better-sqlite3/build/Release/better_sqlite3.node", import.meta.url)

/** Whether a compiled module removes hooks. */
const hasHooks = (file) => existsSync(file) && readFileSync(file).includes("RemoveEnvironmentCleanupHook")

/** The header of the class, without the calls of its hooks. */
export const withoutHooks = (header) => header.replace(/^ *(Add|Remove)CleanupHook\(\);\n/gm, "")

/** Where node-gyp finds headers: beside Node, or where it puts those that it downloads. */
const headerOfNode = () => {
  const cache = process.env.npm_config_devdir ?? join(homedir(), ".cache/node-gyp")
  const folders = [
    process.env.npm_config_nodedir,
    join(cache, process.versions.node),
    dirname(dirname(process.execPath))
  ]
  return folders
    .filter((folder) => folder !== undefined)
    .map((folder) => join(folder, "include/node/node_object_wrap.h"))
    .find((file) => existsSync(file))
}

const compile = (header) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-sqlite-"))
  try {
    // It takes the place of the header of the same include guard.
    const changed = join(folder, "node_object_wrap.h")
    writeFileSync(changed, withoutHooks(readFileSync(header, "utf8")))
    execFileSync("npm", ["run", "build-release"], {
      cwd: fileURLToPath(new URL("../node_modules/better-sqlite3/", import.meta.url)),
      env: { ...process.env, CXXFLAGS: `${process.env.CXXFLAGS ?? ""} -include ${changed}` },
      stdio: ["ignore", "ignore", "pipe"],
      maxBuffer: 64 * 1024 * 1024
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && hasHooks(addon)) {
  process.stdout.write(`compile SQLite once more for Node ${process.versions.node}, which takes a minute or two\n`)
  const header = headerOfNode()
  if (header === undefined) throw new Error("the headers of Node were not found: npm_config_nodedir names their folder")
  compile(header)
  if (hasHooks(addon)) throw new Error(`${fileURLToPath(addon)} still removes hooks`)
}
