/** The npm package of the server. Everything is bundled but SQLite, which is compiled for the machine. */
import { readdir, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { bundleModules, readable, root, settings } from "../bundling.mjs"
import { below } from "./archive.mjs"
import { ownLicence, thirdParty } from "./licences.mjs"
import { filesOf } from "./staging.mjs"

const native = "better-sqlite3"
const server = new URL("packages/server/", root)
const source = fileURLToPath(new URL("src/", server))

/** The modules that are started by name: the program, what `coffer master-key rotate` loads, and the threads. */
const entries = async () => {
  const files = await readdir(source, { recursive: true })
  return [
    "main",
    "operations/rotation/Rotation",
    ...files.filter((file) => file.endsWith("Worker.ts")).map((file) => file.slice(0, -3))
  ]
}

/** The part of our lockfile below a package: the package is installed with what it was tested with. */
const lockedBelow = (name, lock) => {
  const found = new Map()
  const visit = (wanted, from) => {
    // As Node resolves: from the innermost folder outwards.
    const place = from === "" ? "" : `${from}/`
    const path = `${place}node_modules/${wanted}`
    const entry = lock.packages[path]
    if (entry === undefined) {
      if (from === "") return
      return visit(wanted, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))))
    }
    if (found.has(path)) return
    found.set(path, entry)
    const { dependencies = {}, optionalDependencies = {} } = entry
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) visit(one, path)
  }
  visit(name, "")
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The files of the build in a folder of the package, by path. */
const builtIn = async (folder) => below(folder, await filesOf(fileURLToPath(new URL(folder, server))))

/** Returns the package's files by path. */
export const serverPackage = async ({ folder, man, manifest }) => {
  const names = await entries()
  const { inputs } = await bundleModules(
    Object.fromEntries(names.map((name) => [name, `${source}${name}.ts`])),
    `${folder}/dist/bundle`,
    // Metrics, mail and the object store's client are chunks that are loaded when they are used.
    { ...settings(manifest.version), ...readable, external: [native] }
  )
  const lock = JSON.parse(await readFile(new URL("package-lock.json", root), "utf8"))
  const own = JSON.parse(await readFile(new URL("package.json", server), "utf8"))
  const described = {
    name: own.name,
    version: manifest.version,
    description: own.description,
    license: own.license,
    type: "module",
    engines: own.engines,
    bin: own.bin,
    man,
    exports: {
      "./program": own.exports["./program"],
      "./rotation": "./dist/bundle/operations/rotation/Rotation.js",
      "./*": "./dist/bundle/*.js"
    },
    dependencies: { [native]: own.dependencies[native] }
  }
  const shrinkwrap = {
    name: own.name,
    version: manifest.version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: { "": described, ...lockedBelow(native, lock) }
  }
  const inConsole = JSON.parse(await readFile(new URL("dist/web.json", server), "utf8"))
  const bins = await Promise.all(
    Object.values(own.bin).map(async (path) => [
      path,
      { content: await readFile(new URL(path, server)), executable: true }
    ])
  )
  return {
    ...(await filesOf(folder)),
    ...(await builtIn("dist/documents")),
    ...(await builtIn("dist/web")),
    ...Object.fromEntries(bins),
    "package.json": `${JSON.stringify(described, null, 2)}\n`,
    "npm-shrinkwrap.json": `${JSON.stringify(shrinkwrap, null, 2)}\n`,
    LICENSE: await ownLicence(),
    "THIRD-PARTY-LICENCES.txt": await thirdParty([...Object.keys(inputs), ...inConsole])
  }
}
