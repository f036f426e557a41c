/** The npm packages `@coffer/sqlite-…`: SQLite for the server, compiled for one platform. npm installs the one that fits. */
import { execFile } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../../bundling.mjs"
import { archive, below } from "../archive.mjs"
import { compileSqlite } from "./compile.mjs"
import { moduleOf, nodes, targets } from "./targets.mjs"

const source = (path) => readFile(new URL(`node_modules/better-sqlite3/${path}`, root), "utf8")

/** The version of the locked SQLite itself. */
export const sqliteVersion = async () =>
  /^#define SQLITE_VERSION +"(.+)"$/m.exec(await source("deps/sqlite3/sqlite3.h"))[1]

const systems = { linux: "Linux", darwin: "macOS" }

const readme = ({ better, described, sqlite }) => `# ${described.name}

${described.description}. It holds SQLite ${sqlite} and the native part of better-sqlite3 ${better}, a file for each version of Node's modules. \`@coffer/server\` brings it: there is no need to install it by name.
`

/**
 * Returns the files of a package by path.
 *
 * @param name a name in `targets`
 * @param modules the compiled modules by file name
 */
export const sqlitePackage = async ({ manifest, modules, name }) => {
  const { cpu, libc, os } = targets[name]
  const { version: better } = JSON.parse(await source("package.json"))
  const described = {
    name: `@coffer/${name}`,
    version: manifest.version,
    description: `SQLite for Coffer's server on ${systems[os]} ${cpu}${libc === undefined ? "" : ` with ${libc}`}, compiled for Node`,
    license: "MIT",
    engines: manifest.engines,
    os: [os],
    cpu: [cpu],
    libc: libc && [libc]
  }
  const sqlite = await sqliteVersion()
  return {
    ...modules,
    "package.json": `${JSON.stringify(described, null, 2)}\n`,
    "README.md": readme({ better, described, sqlite }),
    LICENSE: await source("LICENSE"),
    "SQLITE.txt": `SQLite ${sqlite} is in the public domain: https://sqlite.org/copyright.html\n`
  }
}

/** The file of a package in a release. */
export const fileNameOf = (name, version) => `coffer-${name}-${version}.tgz`

/** The names of the packages that this machine makes by itself: on Linux all of them, on macOS those of macOS. */
export const namesHere = () =>
  Object.keys(targets).filter((name) => process.platform === "linux" || targets[name].os === process.platform)

/** A query in the Node that runs it. Arguments: better-sqlite3, and the compiled module. */
const query = `
  const [sqlite, nativeBinding] = process.argv.slice(1)
  const database = new (require(sqlite))(":memory:", { nativeBinding })
  if (database.prepare("SELECT 1 + 1").pluck().get() !== 2) throw new Error("1 + 1 is not 2")
`

/** Whether a module of macOS carries a signature, without which macOS on arm64 ends the program that loads it. */
const isSigned = (module) => {
  const [headerSize, signature] = [32, 0x1d]
  let at = headerSize
  for (let commands = module.readUInt32LE(16); commands > 0; commands--) {
    if (module.readUInt32LE(at) === signature) return true
    at += module.readUInt32LE(at + 4)
  }
  return false
}

/** Fails if a module does not load in its Node. Those of Linux on x64 with glibc are here. */
const load = async (headers, folder) => {
  const sqlite = fileURLToPath(new URL("node_modules/better-sqlite3", root))
  for (const [abi, node] of Object.entries(nodes)) {
    await promisify(execFile)(join(headers, node, "bin/node"), ["-e", query, sqlite, join(folder, moduleOf(abi))])
  }
}

/** Fails if a package would not work, as far as this machine can tell. */
const check = async (name, modules, headers, folder) => {
  if (name === "sqlite-linux-x64" && process.platform === "linux" && process.arch === "x64") await load(headers, folder)
  if (name !== "sqlite-darwin-arm64") return
  const unsigned = Object.keys(modules).filter((file) => !isSigned(modules[file]))
  if (unsigned.length > 0) throw new Error(`macOS would not load ${unsigned.join(", ")} of ${name}: not signed`)
}

/** The tarballs of earlier runs, on other systems, by file name: those in the folder that COFFER_SQLITE_PACKAGES names. */
const given = async (version) => {
  const folder = process.env.COFFER_SQLITE_PACKAGES
  if (folder === undefined || folder === "") return {}
  const wanted = Object.keys(targets).map((name) => fileNameOf(name, version))
  const found = (await readdir(folder)).filter((file) => wanted.includes(file))
  return Object.fromEntries(await Promise.all(found.map(async (file) => [file, await readFile(join(folder, file))])))
}

/** The tarball of a package, from its modules. */
export const pack = async ({ time, ...described }) => archive(below("package", await sqlitePackage(described)), time)

/**
 * Returns the tarballs by file name, and the modules of those that are made here by name.
 *
 * @param names the packages to make
 * @param tools what `installTools` returns; undefined makes none
 * @param work a folder for what is only made in between
 */
export const sqlitePackages = async ({ manifest, names = namesHere(), time, tools, work }) => {
  const tarballs = await given(manifest.version)
  const modules = {}
  const missing = names.filter((name) => !(fileNameOf(name, manifest.version) in tarballs))
  const make = async (name) => {
    const folder = join(work, name)
    modules[name] = await compileSqlite(tools, targets[name], folder)
    await check(name, modules[name], tools.headers, folder)
    tarballs[fileNameOf(name, manifest.version)] = await pack({ manifest, modules: modules[name], name, time })
  }
  if (tools !== undefined) await Promise.all(missing.map(make))
  return { modules, tarballs }
}
