/**
 * Bundles the programs so that they start fast: a small entry file each, and chunks for lazy imports. Then builds the
 * server's documents. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleCached, bundleMain, client, optional, readable, root, settings } from "./bundling.mjs"
import { clientRuns, warm } from "./code/warm.mjs"

/**
 * @param cached modules that get their own bundle, with their exports. Shared code is duplicated. Without `main`, the program's
 * own file requires them.
 */
const bundle = async (name, { cached, ...own }) => {
  const folder = new URL(`packages/${name}/`, root)
  const outdir = fileURLToPath(new URL("dist/bundle/", folder))
  const source = (module) => fileURLToPath(new URL(`src/${module}.ts`, folder))
  const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"))
  const external = [...optional, ...(own.external ?? []), ...Object.keys(cached).map((module) => `./${module}.js`)]
  const options = { ...settings(version), ...own, external }
  const isRequired = !("main" in cached)
  const made = await Promise.all([
    ...(isRequired ? [bundleMain(source("main"), outdir, options)] : []),
    ...Object.entries(cached).map(([module, names]) =>
      bundleCached(source(module), join(outdir, `${module}.${isRequired ? "cjs" : "js"}`), names, options)
    )
  ])
  // Remove old files last, so that a program that starts meanwhile finds its chunks.
  const outputs = made.flatMap(({ outputs }) => (Array.isArray(outputs) ? outputs : Object.keys(outputs)))
  const current = new Set(outputs.map((path) => resolve(fileURLToPath(root), path)))
  const files = await readdir(outdir, { recursive: true, withFileTypes: true })
  const old = files.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name))
  await Promise.all(old.filter((file) => !current.has(file)).map((file) => rm(file)))
}

const folder = await mkdtemp(join(tmpdir(), "coffer-build-"))
const server = { SERVICE_MASTER_KEY: randomBytes(32).toString("hex"), SMTP_HOST: "log", SERVICE_PORT: "0" }
const programs = { cli: "cli/bin/coffer.js", mcp: "mcp/bin/coffer-mcp.js" }

/** Fills the code cache of a program. Caches that exist stay. */
const fillCache = ([program, ...args]) =>
  warm({
    folder,
    env: server,
    isToolServer: program === "mcp",
    args: [fileURLToPath(new URL(`packages/${programs[program] ?? program}`, root)), ...args]
  })

await Promise.all([
  bundle("cli", {
    cached: {
      Cli: ["start"],
      "run/main": ["start", "startRender"],
      "secrets/main": ["start"],
      "completion/main": ["start"]
    },
    ...client
  }),
  bundle("mcp", { cached: { main: [], Calls: ["startCalls"] }, ...client }),
  bundle("server", {
    cached: {
      main: [],
      "operations/rotation/Rotation": ["keyFromCommand", "opensDatabase", "rotate"],
      "operations/backups/DrillWorker": []
    },
    ...readable,
    external: ["@aws-sdk/*", "@simplewebauthn/*", "@smithy/*", "better-sqlite3", "nodemailer", "prom-client", "undici"]
  })
]).catch(() => {
  // esbuild has printed the error.
  process.exitCode = 1
})

const documents = import("./documents.mjs")
await Promise.all(
  [...clientRuns, ["server/bin/coffer-server.js"], ["server/dist/bundle/operations/backups/DrillWorker.js"]].map(
    fillCache
  )
)
// After the server's run, which creates the database.
await fillCache(["cli", "master-key", "rotate", "--db", "service.db", "--generate"])
await rm(folder, { recursive: true })
await documents
