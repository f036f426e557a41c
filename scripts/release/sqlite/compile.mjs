/** Compiles the locked SQLite, to the same bytes on every machine. */
import { execFile } from "node:child_process"
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../../bundling.mjs"
import { withoutHooks } from "../../sqlite.mjs"
import { moduleOf, nodes } from "./targets.mjs"

const sources = (path) => fileURLToPath(new URL(`node_modules/better-sqlite3/${path}`, root))

/** The options of better-sqlite3 for SQLite, from its description for node-gyp. */
const defines = async () => {
  const text = await readFile(sources("deps/defines.gypi"), "utf8")
  return [...text.matchAll(/^ +'(\w+(?:=[^']*)?)',$/gm)].map(([, define]) => `-D${define}`)
}

/** Those of node-gyp for every module. */
const common = ["-O3", "-g0", "-w", "-fPIC", "-fno-sanitize=undefined", "-fvisibility=hidden", "-DNDEBUG"]
const asModule = [
  ...["-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing"],
  ...["NODE_GYP_MODULE_NAME=better_sqlite3", "USING_UV_SHARED=1", "USING_V8_SHARED=1", "BUILDING_NODE_EXTENSION"].map(
    (define) => `-D${define}`
  ),
  ...["-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE_SOURCE"]
]

const linked = {
  linux: ["-s", "-Wl,-Bsymbolic", "-Wl,--version-script=exports.map"],
  darwin: ["-s", "-undefined", "dynamic_lookup"]
}

/**
 * Returns the modules of a platform by file name, one for each Node.
 *
 * @param tools what `installTools` returns
 * @param target one of `targets`
 * @param folder a new folder for what is only made in between
 */
export const compileSqlite = async ({ cache, headers, zig }, { os, zig: platform }, folder) => {
  await mkdir(folder, { recursive: true })
  // Relative paths only: they would be in the modules.
  await cp(sources("src"), join(folder, "src"), { recursive: true })
  await cp(sources("deps/sqlite3"), join(folder, "sqlite3"), { recursive: true })
  await symlink(headers, join(folder, "nodes"))
  await writeFile(join(folder, "exports.map"), "{ global: node_register_module_v*; local: *; };\n")
  const compile = (kind, ...args) =>
    promisify(execFile)(zig, [kind, "-target", platform, ...args], {
      cwd: folder,
      env: { ...process.env, ZIG_GLOBAL_CACHE_DIR: cache, ZIG_LOCAL_CACHE_DIR: join(folder, "cache") },
      maxBuffer: 16 * 1024 * 1024
    })
  await compile("cc", ...common, "-std=c99", ...(await defines()), "-c", "sqlite3/sqlite3.c", "-o", "sqlite3.o")
  const made = {}
  for (const [abi, node] of Object.entries(nodes)) {
    const include = `nodes/${node}/include/node`
    const header = await readFile(join(folder, include, "node_object_wrap.h"), "utf8")
    // It takes the place of the header of the same include guard: see scripts/sqlite.mjs.
    await mkdir(join(folder, node))
    await writeFile(join(folder, node, "node_object_wrap.h"), withoutHooks(header))
    const included = ["-include", `${node}/node_object_wrap.h`, `-I${include}`, "-Isqlite3"]
    await compile("c++", ...common, ...asModule, ...included, "-c", "src/better_sqlite3.cpp", "-o", `${node}.o`)
    const file = moduleOf(abi)
    await compile("c++", "-shared", ...linked[os], `${node}.o`, "sqlite3.o", "-o", file)
    made[file] = await readFile(join(folder, file))
  }
  return made
}
