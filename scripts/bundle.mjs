/**
 * Bundles the programs so that they start fast: a small entry file each, and chunks for lazy imports. Then builds the
 * server's documents. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { bundleCached, bundleModules, client, optional, readable, root, settings } from "./bundling.mjs"

/** @param cached modules that get their own bundle, with their exports. Shared code is duplicated. */
const bundle = async (name, { cached, ...own }) => {
  const folder = new URL(`packages/${name}/`, root)
  const outdir = fileURLToPath(new URL("dist/bundle/", folder))
  const source = (module) => fileURLToPath(new URL(`src/${module}.ts`, folder))
  const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"))
  const external = [...optional, ...(own.external ?? []), ...Object.keys(cached).map((module) => `./${module}.js`)]
  const options = { ...settings(version), ...own, external }
  const made = await Promise.all([
    ...("main" in cached ? [] : [bundleMain(source("main"), outdir, options)]),
    ...Object.entries(cached).map(([module, names]) =>
      bundleCached(source(module), join(outdir, `${module}.js`), names, options)
    )
  ])
  // Remove old files last, so that a program that starts meanwhile finds its chunks.
  const current = new Set(made.flatMap(({ outputs }) => outputs).map((path) => resolve(fileURLToPath(root), path)))
  const files = await readdir(outdir, { recursive: true, withFileTypes: true })
  const old = files.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name))
  await Promise.all(old.filter((file) => !current.has(file)).map((file) => rm(file)))
}

const bundleMain = async (source, outdir, options) => {
  const { outputs } = await bundleModules({ main: source }, outdir, options)
  return { outputs: Object.keys(outputs) }
}

const folder = await mkdtemp(join(tmpdir(), "coffer-build-"))
const variables = {
  PATH: process.env.PATH,
  HOME: folder,
  SERVICE_SERVER_URL: "http://127.0.0.1:1",
  SERVICE_ORG: "acme",
  SERVICE_PROJECT: "webshop",
  SERVICE_ENV: "dev",
  SERVICE_API_KEY: "svc_sa_none",
  SERVICE_MASTER_KEY: randomBytes(32).toString("hex"),
  SMTP_HOST: "log",
  SERVICE_PORT: "0"
}

/** A session of the tool server: a host lists the tools and calls one. */
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "0" } }
const session = [
  { id: 1, method: "initialize", params: initialize },
  { id: 2, method: "tools/list" },
  { id: 3, method: "tools/call", params: { name: "secret_list", arguments: {} } }
]
const sessionEnd = '"id":3'

/**
 * Runs a program once and stores the code that V8 compiled. Other functions are compiled when they first run. The program
 * may fail, because it has no server; a server is stopped as soon as it listens.
 */
const warm = async (program, ...args) => {
  const keep = new URL("scripts/keep-code.mjs", root).href
  const file = fileURLToPath(new URL(`packages/${program}`, root))
  const child = spawn(process.execPath, ["--import", keep, file, ...args], {
    cwd: folder,
    env: variables,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 60_000
  })
  if (program.startsWith("mcp/")) {
    for (const message of session) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    child.stdout.on("data", (text) => {
      if (String(text).includes(sessionEnd)) child.stdin.end()
    })
  } else {
    child.stdin.end()
    child.stdout.resume()
  }
  child.stderr.on("data", (text) => {
    if (String(text).includes("listening on")) child.kill("SIGTERM")
  })
  await once(child, "close")
}

await Promise.all([
  bundle("cli", { cached: { Cli: ["start"], "run/main": ["start"], "completion/main": ["start"] }, ...client }),
  bundle("mcp", { cached: { main: [], Calls: ["startCalls"] }, ...client }),
  bundle("server", {
    cached: {
      main: [],
      "operations/rotation/Rotation": ["opensDatabase", "rotate"],
      "operations/backups/DrillWorker": []
    },
    ...readable,
    external: ["@aws-sdk/*", "better-sqlite3", "nodemailer", "prom-client"]
  })
]).catch(() => {
  // esbuild has printed the error.
  process.exitCode = 1
})

const documents = import("./documents.mjs")
await Promise.all([
  warm("cli/bin/coffer.js", "secret", "list"),
  warm("cli/bin/coffer.js", "run", "--", "true"),
  warm("cli/bin/coffer.js", "__complete", "key", "0", ""),
  warm("mcp/bin/coffer-mcp.js"),
  warm("server/bin/coffer-server.js"),
  warm("server/dist/bundle/operations/backups/DrillWorker.js")
])
// After the server's run, which creates the database.
await warm("cli/bin/coffer.js", "master-key", "rotate", "--db", "service.db", "--generate")
await rm(folder, { recursive: true })
await documents
