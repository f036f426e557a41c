/** The npm package of the client and the tool server. Everything that they need is bundled. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleCached, bundleMain, client, optional, root, settings } from "../bundling.mjs"
import { ownLicence, thirdParty } from "./licences.mjs"
import { mcpName } from "./mcp.mjs"
import { filesOf } from "./staging.mjs"

const source = (path) => fileURLToPath(new URL(`packages/${path}`, root))

/** The scripts of each program, with their exports. `main` of the client is a module: it loads little. */
const scripts = {
  cli: { Cli: ["start"], "run/main": ["start"], "secrets/main": ["start"], "completion/main": ["start"] },
  mcp: { main: [], Calls: ["startCalls"] }
}

/** How the programs are bundled: with the list of the console's files, for `coffer doctor`. */
export const programSettings = async (version) => {
  const options = { ...settings(version), ...client }
  const list = await readFile(source("server/dist/web/console.json"), "utf8")
  return { ...options, define: { ...options.define, COFFER_CONSOLE: JSON.stringify(list) } }
}

/** Bundles the programs. Returns the paths of what they contain. */
const bundlePrograms = async (folder, version) => {
  const options = await programSettings(version)
  const made = await Promise.all(
    Object.entries(scripts).flatMap(([program, modules]) => {
      const external = [...optional, ...Object.keys(modules).map((module) => `./${module}.js`)]
      const outdir = join(folder, program, "dist/bundle")
      const own = { ...options, external }
      const isRequired = !("main" in modules)
      return [
        ...(isRequired ? [bundleMain(source(`${program}/src/main.ts`), outdir, own)] : []),
        ...Object.entries(modules).map(([module, names]) =>
          bundleCached(
            source(`${program}/src/${module}.ts`),
            join(outdir, `${module}.${isRequired ? "cjs" : "js"}`),
            names,
            own
          )
        )
      ]
    })
  )
  return made.flatMap(({ inputs }) => (Array.isArray(inputs) ? inputs : Object.keys(inputs)))
}

/** Returns the package's files by path. */
export const clientPackage = async ({ folder, man, manifest }) => {
  const inputs = await bundlePrograms(folder, manifest.version)
  const bins = {
    coffer: "cli/bin/coffer.js",
    "coffer-mcp": "mcp/bin/coffer-mcp.js",
    "docker-credential-coffer": "cli/bin/docker-credential-coffer.js"
  }
  const commonJs = "cli/bin/package.json"
  const programs = await Promise.all(
    Object.values(bins).map(async (path) => [path, { content: await readFile(source(path)), executable: true }])
  )
  const described = {
    name: "coffer",
    mcpName,
    version: manifest.version,
    description: "Coffer's command-line client and its tool server for AI agents",
    license: manifest.license,
    type: "module",
    engines: manifest.engines,
    bin: bins,
    man
  }
  return {
    ...(await filesOf(folder)),
    ...Object.fromEntries(programs),
    [commonJs]: await readFile(source(commonJs)),
    "package.json": `${JSON.stringify(described, null, 2)}\n`,
    LICENSE: await ownLicence(),
    "THIRD-PARTY-LICENCES.txt": await thirdParty(inputs)
  }
}
