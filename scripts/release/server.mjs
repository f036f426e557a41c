/** The npm package of the server. Everything is bundled but the compiled SQLite, which is in a package for each platform. */
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

/** The files of the build in a folder of the package, by path. */
const builtIn = async (folder) => below(folder, await filesOf(fileURLToPath(new URL(folder, server))))

/**
 * Returns the package's files by path.
 *
 * @param sqlite the names of the packages with SQLite that the release has
 */
export const serverPackage = async ({ folder, man, manifest, sqlite }) => {
  const { define, ...common } = settings(manifest.version)
  const { version } = JSON.parse(await readFile(new URL(`node_modules/${native}/package.json`, root), "utf8"))
  const names = await entries()
  const { inputs } = await bundleModules(
    Object.fromEntries(names.map((name) => [name, `${source}${name}.ts`])),
    `${folder}/dist/bundle`,
    // Metrics, mail and the object store's client are chunks that are loaded when they are used.
    { ...common, ...readable, external: [], define: { ...define, COFFER_SQLITE_VERSION: JSON.stringify(version) } }
  )
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
    optionalDependencies: Object.fromEntries(sqlite.map((name) => [`@coffer/${name}`, manifest.version]))
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
    LICENSE: await ownLicence(),
    "THIRD-PARTY-LICENCES.txt": await thirdParty([...Object.keys(inputs), ...inConsole])
  }
}
