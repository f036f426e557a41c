/** The artifacts that a release consists of. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../bundling.mjs"
import { archive, below } from "./archive.mjs"
import { billOfMaterials } from "./bill.mjs"
import { clientPackage } from "./client.mjs"
import { executable } from "./executable.mjs"
import { libraries } from "./libraries.mjs"
import { manuals } from "./manuals.mjs"
import { mcpFiles } from "./mcp.mjs"
import { recipes } from "./recipes.mjs"
import { serverPackage } from "./server.mjs"
import { fileNameOf, sqlitePackages } from "./sqlite/packages.mjs"
import { moduleOf, targets } from "./sqlite/targets.mjs"
import { filesOf } from "./staging.mjs"
import { clientPackages, completionNames } from "./system/client.mjs"
import { programOf, serverPackages } from "./system/server.mjs"

const read = (path) => readFile(new URL(path, root))

const program = (name) => fileURLToPath(new URL(name, root))

const digest = (content) => createHash("sha256").update(content).digest("hex")

/** The completions by shell. */
const completions = async () =>
  Object.fromEntries(
    await Promise.all(
      Object.keys(completionNames).map(async (shell) => {
        const args = [program("packages/cli/bin/coffer.js"), "completions", shell]
        const { stdout } = await promisify(execFile)(process.execPath, args)
        return [shell, stdout]
      })
    )
  )

/** The manual pages among files, for npm. */
const namesOf = (files) => Object.keys(files).filter((path) => path.startsWith("man/"))

const manifestOf = async () => JSON.parse(await read("package.json"))

/** Returns the packages for applications by file name. */
export const makeLibraries = async (time) => {
  const packages = Object.entries(await libraries(await manifestOf()))
  return Object.fromEntries(packages.map(([name, files]) => [name, archive(below("package", files), time)]))
}

/**
 * Returns every file of the release by path.
 *
 * @param node the folder of the Node for the executables, if there is one
 * @param nfpm the program that makes packages of Debian and RPM systems, if there is one
 * @param say prints a line
 * @param sqlite what SQLite is compiled with, if there is that
 * @param time the time of all files, in seconds since 1970
 * @param work a folder for what is only made in between
 */
export const makeRelease = async ({ nfpm, node, say, sqlite, time, work }) => {
  /** Says how long a step took: a release takes minutes, and a step that hangs must be seen. */
  const step = async (name, made) => {
    const start = Date.now()
    const result = await made
    say(`${name}: ${((Date.now() - start) / 1000).toFixed(0)} s`)
    return result
  }
  const manifest = await manifestOf()
  const { version } = manifest
  const common = { "CHANGELOG.md": await read("CHANGELOG.md") }
  const pages = await step("manual pages", manuals({ time, version }))
  const shells = await step("completions", completions())
  const completionFiles = Object.entries(shells).map(([shell, text]) => [
    `completions/${shell}/${completionNames[shell]}`,
    text
  ])
  const client = { ...Object.fromEntries(completionFiles), ...below("man", pages.client) }
  const server = below("man", pages.server)
  const tarball = (files) => archive(below("package", { ...files, ...common }), time)
  const clientFiles = await step(
    "client",
    clientPackage({ folder: join(work, "client"), manifest, man: namesOf(client) })
  )
  const { modules, tarballs } = await step(
    "SQLite of each platform",
    sqlitePackages({ manifest, time, tools: sqlite, work: join(work, "sqlite") })
  )
  const serverFiles = await step(
    "server",
    serverPackage({
      folder: join(work, "server"),
      manifest,
      man: namesOf(server),
      sqlite: Object.keys(targets).filter((name) => fileNameOf(name, version) in tarballs)
    })
  )
  const packages = {
    [`coffer-${version}.tgz`]: tarball({ ...clientFiles, ...client }),
    [`coffer-server-${version}.tgz`]: tarball({ ...serverFiles, ...server })
  }
  const inContainer = Object.entries(tarballs).filter(([name]) => /^coffer-sqlite-linux-(x64|arm64)-\d/.test(name))
  const files = {
    ...packages,
    ...tarballs,
    ...(await step("packages for applications", makeLibraries(time))),
    [`coffer-${version}.helm.tgz`]: archive(below("coffer", await filesOf(program("deploy/helm/coffer"))), time),
    ...mcpFiles({ client: clientFiles, manifest, time }),
    ...below("container", {
      ...packages,
      ...Object.fromEntries(inContainer),
      Dockerfile: await read("deploy/Dockerfile")
    }),
    ...client,
    ...server,
    ...(await step("recipes", recipes(packages, version))),
    "CHANGELOG.md": common["CHANGELOG.md"],
    [`coffer-${version}.cdx.json`]: await step("bill of materials", billOfMaterials({ time, node }))
  }
  if (node !== undefined) {
    await mkdir(join(work, "executable"), { recursive: true })
    const made = await step("executable", executable({ folder: join(work, "executable"), node, version }))
    const name = `coffer-${version}-${process.platform}-${process.arch}`
    const content = {
      coffer: made.program,
      "coffer-mcp": { symlink: "coffer" },
      ...made.licences,
      ...client,
      ...common
    }
    files[`${name}.tar.gz`] = archive(below(name, content), time)
    if (nfpm !== undefined) {
      const system = { changelog: common["CHANGELOG.md"], folder: join(work, "system"), nfpm, time, version }
      Object.assign(
        files,
        await step("client for systems", clientPackages({ ...system, made, pages: pages.client, shells }))
      )
      const ours = await programOf(node)
      const addon = modules[`sqlite-linux-${process.arch}`]?.[moduleOf(ours.abi)]
      if (addon !== undefined) {
        const own = { addon, client: clientFiles, node: ours, pages: pages.server, server: serverFiles }
        Object.assign(files, await step("server for systems", serverPackages({ ...system, ...own })))
      }
    }
  }
  const sums = Object.entries(files)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => `${digest(content)}  ${path}\n`)
  return { ...files, SHA256SUMS: sums.join("") }
}
