/** The bill of materials of a release: what `npm run sbom` prints, with the Node of the executables, the same each time. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../bundling.mjs"
import { sqliteVersion } from "./sqlite/packages.mjs"

/** A UUID of a content, in the form of version 8. */
const uuidOf = (content) => {
  const hex = createHash("sha256").update(content).digest("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-"
  )
}

const componentOf = async (node) => {
  const { version } = JSON.parse(await readFile(join(node, "package.json"), "utf8"))
  return {
    "bom-ref": `node@${version}`,
    type: "application",
    name: "node",
    version,
    purl: `pkg:generic/node@${version}`
  }
}

/** SQLite itself, which is in better-sqlite3. */
const sqliteComponent = async () => {
  const version = await sqliteVersion()
  return {
    "bom-ref": `sqlite@${version}`,
    type: "library",
    name: "sqlite",
    version,
    licenses: [{ license: { name: "Public Domain" } }],
    purl: `pkg:generic/sqlite@${version}`
  }
}

export const billOfMaterials = async ({ node, time }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL("scripts/sbom.mjs", root))], {
    maxBuffer: 64 * 1024 * 1024
  })
  const { components, metadata, ...bill } = JSON.parse(stdout)
  const complete = {
    ...bill,
    // npm makes another one each time.
    serialNumber: undefined,
    metadata: { ...metadata, timestamp: new Date(time * 1000).toISOString() },
    components: [...components, await sqliteComponent(), ...(node === undefined ? [] : [await componentOf(node)])]
  }
  return `${JSON.stringify({ ...complete, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(complete))}` }, null, 2)}\n`
}
