/**
 * Builds the web console, and puts it into the server's package with compressed copies, so that the server compresses
 * nothing. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { createHash } from "node:crypto"
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { build } from "vite"
import { writeCompressed } from "./compress.mjs"
import { filesOf } from "./release/staging.mjs"

const root = new URL("../", import.meta.url)
const path = (name) => fileURLToPath(new URL(name, root))
const source = path("packages/console")
const target = path("packages/server/dist/web")
const next = `${target}.next`

const compress = async (file, content) => {
  if (/\.(css|html|js|json|svg|txt)$/.test(file)) await writeCompressed(file, content, 11)
}

const { output } = await build({ root: source, logLevel: "warn" })
await rm(next, { recursive: true, force: true })
await mkdir(next, { recursive: true })
await cp(`${source}/dist`, next, { recursive: true })

/** Returns the list that the server serves for `coffer doctor`: the SHA-256 of each file by its path. */
const listOf = async (files) => {
  const { version } = JSON.parse(await readFile(path("package.json"), "utf8"))
  const digest = (content) => createHash("sha256").update(content).digest("hex")
  const pathOf = (name) => (name === "index.html" ? "/" : `/${name}`)
  const digests = Object.entries(files).map(([name, content]) => [pathOf(name), digest(content)])
  return JSON.stringify({ version, files: Object.fromEntries(digests.sort(([a], [b]) => (a < b ? -1 : 1))) })
}

await writeFile(`${next}/console.json`, await listOf(await filesOf(next)))
await Promise.all(Object.entries(await filesOf(next)).map(([name, content]) => compress(`${next}/${name}`, content)))
// At once, so that a server that starts meanwhile finds all files of one build.
await rm(target, { recursive: true, force: true })
await rename(next, target)

/** The modules of the bundle, whose licences the release lists. */
const inputs = output.flatMap((chunk) => Object.keys(chunk.modules ?? {})).map((id) => id.split("?")[0])
const own = fileURLToPath(root)
const names = inputs.filter((id) => id.startsWith(own)).map((id) => id.slice(own.length))
await writeFile(`${target}.json`, JSON.stringify([...new Set(names)].sort()))

const index = await readFile(`${target}/index.html`, "utf8")
if (/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/.test(index)) {
  throw new Error("index.html has an inline script or style, which the policy of the server forbids")
}
