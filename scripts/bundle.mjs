/**
 * Bundles the programs so that they start fast: a small entry file each, and chunks for lazy imports. Then builds the
 * server's documents. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, extname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = new URL("../", import.meta.url)

/** Exports of `effect` that are not modules. */
const functions = new Set(["absurd", "flow", "hole", "identity", "pipe", "unsafeCoerce"])

/** Matches an `import()` of an external module. */
const importOf = (external) =>
  new RegExp(`\\bimport\\("((?:${external.map((name) => name.replace("*", '[^"]*')).join("|")}))"\\)`, "g")

/**
 * Rewrites `import { Effect } from "effect"` to imports of single modules. Otherwise each chunk would load the whole
 * package.
 */
const deepImports = {
  name: "deep-imports",
  setup({ initialOptions, onLoad }) {
    const { external, format } = initialOptions
    onLoad({ filter: /packages\/(cli|domain|mcp|server)\/(src|dist)\/.*\.[jt]s$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      const contents = source.replaceAll(
        /^import \{([^}]*)\} from "(effect|@effect\/platform|@effect\/sql|@effect\/sql-sqlite-node)";?$/gm,
        (_, names, from) =>
          names
            .split(",")
            .map((name) => name.trim())
            .filter((name) => name !== "" && !name.startsWith("type "))
            .map((name) =>
              functions.has(name)
                ? `import { ${name} } from "${from}/Function";`
                : `import * as ${name} from "${from}/${name}";`
            )
            .join(" ")
      )
      // A script cannot use `import()`: `__import` is a parameter of the function around it.
      const imported = format === "cjs" ? contents.replaceAll(importOf(external), '__import("$1")') : contents
      return { contents: imported, loader: extname(path) === ".ts" ? "ts" : "js" }
    })
  }
}

const settings = (version) => ({
  absWorkingDir: fileURLToPath(root),
  bundle: true,
  plugins: [deepImports],
  platform: "node",
  target: "node20",
  chunkNames: "chunk-[hash]",
  minify: true,
  metafile: true,
  logLevel: "warning",
  define: { "process.env.COFFER_VERSION": JSON.stringify(version) },
  // CommonJS dependencies call `require` for Node's modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
  }
})

/**
 * Bundles a program's entry module as a script with a V8 code cache: see start-cached.mjs. Node's own compile cache needs
 * Node 22, and a folder that the program may write to.
 */
const bundleCached = async (source, outfile, names, options) => {
  const folder = dirname(outfile)
  const name = basename(outfile, ".js")
  const script = await build({
    ...options,
    entryPoints: { [name]: source },
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    // V8 checks only the length of a script against its cache. The name of the cache identifies the script.
    entryNames: "[name]-[hash]",
    format: "cjs",
    banner: { js: '(function(module,require,__import,__url){"use strict";' },
    footer: { js: "})" },
    define: { ...options.define, "import.meta.url": "__url" }
  })
  const [path] = Object.keys(script.metafile.outputs)
  const cache = path.replace(/cjs$/, "cache")
  // Another version of Node may have made the cache.
  await rm(new URL(cache, root), { force: true })
  const loader = await build({
    absWorkingDir: options.absWorkingDir,
    stdin: {
      contents: `import { exports } from "./start-cached.mjs"; export const { ${names.join(", ")} } = exports`,
      resolveDir: fileURLToPath(new URL("scripts/", root))
    },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: options.target,
    minify: true,
    metafile: true,
    define: { "process.env.COFFER_SCRIPT": JSON.stringify(basename(path)) }
  })
  return [...Object.keys(loader.metafile.outputs), path, cache]
}

/** @param cached modules that get their own bundle, with their exports. Shared code is duplicated. */
const bundle = async (name, { cached, ...own }) => {
  const folder = new URL(`packages/${name}/`, root)
  const outdir = fileURLToPath(new URL("dist/bundle/", folder))
  const source = (module) => fileURLToPath(new URL(`src/${module}.ts`, folder))
  const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"))
  // Optional dependencies, which are loaded lazily, are external too.
  const external = [
    "@coffer/server/*",
    ...(own.external ?? []),
    ...Object.keys(cached).map((module) => `./${module}.js`)
  ]
  const options = { ...settings(version), ...own, external }
  const outputs = await Promise.all([
    ...("main" in cached ? [] : [bundleMain(source("main"), outdir, options)]),
    ...Object.entries(cached).map(([module, names]) =>
      bundleCached(source(module), join(outdir, `${module}.js`), names, options)
    )
  ])
  // Remove old files last, so that a program that starts meanwhile finds its chunks.
  const current = new Set(outputs.flat().map((path) => resolve(fileURLToPath(root), path)))
  const files = await readdir(outdir, { recursive: true, withFileTypes: true })
  const old = files.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name))
  await Promise.all(old.filter((file) => !current.has(file)).map((file) => rm(file)))
}

const bundleMain = async (source, outdir, options) => {
  const { metafile } = await build({
    ...options,
    entryPoints: { main: source },
    outdir,
    format: "esm",
    splitting: true
  })
  return Object.keys(metafile.outputs)
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
    stdio: ["ignore", "ignore", "pipe"],
    timeout: 60_000
  })
  child.stderr.on("data", (text) => {
    if (String(text).includes("listening on")) child.kill("SIGTERM")
  })
  await once(child, "close")
}

await Promise.all([
  bundle("cli", { cached: { Cli: ["start"], "run/main": ["start"] } }),
  bundle("mcp", { cached: {} }),
  bundle("server", {
    cached: { main: [], "keys/Rotation": ["opensDatabase", "rotate"], "backups/DrillWorker": [] },
    // Keeps function names in the stack traces of operators' logs.
    minify: false,
    minifyWhitespace: true,
    minifySyntax: true,
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
  warm("server/bin/coffer-server.js"),
  warm("server/dist/bundle/backups/DrillWorker.js")
])
// After the server's run, which creates the database.
await warm("cli/bin/coffer.js", "master-key", "rotate", "--db", "service.db", "--generate")
await rm(folder, { recursive: true })
await documents
