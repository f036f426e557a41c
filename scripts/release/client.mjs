/** The npm package of the client and the tool server. Everything that they need is bundled. */
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { bundleModules, client, root, settings } from "../bundling.mjs"
import { ownLicence, thirdParty } from "./licences.mjs"
import { filesOf } from "./staging.mjs"

const compiled = fileURLToPath(new URL("scripts/compiled.mjs", root))
const source = (path) => fileURLToPath(new URL(`packages/${path}`, root))

/** Returns the package's files by path. */
export const clientPackage = async ({ folder, man, manifest }) => {
  const { inputs } = await bundleModules(
    { "cli/dist/bundle/main": source("cli/src/main.ts"), "mcp/dist/bundle/main": source("mcp/src/main.ts") },
    folder,
    { ...settings(manifest.version), chunkNames: "chunks/[hash]", inject: [...client.inject, compiled] }
  )
  const bins = { coffer: "cli/bin/coffer.js", "coffer-mcp": "mcp/bin/coffer-mcp.js" }
  const programs = await Promise.all(
    Object.values(bins).map(async (path) => [path, { content: await readFile(source(path)), executable: true }])
  )
  const described = {
    name: "coffer",
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
    "package.json": `${JSON.stringify(described, null, 2)}\n`,
    LICENSE: await ownLicence(),
    "THIRD-PARTY-LICENCES.txt": await thirdParty(Object.keys(inputs))
  }
}
