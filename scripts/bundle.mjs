/**
 * Bundles the programs so that they start fast: one small entry file each, and chunks for what they import lazily. Then
 * makes the server's documents. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { readFile, readdir, rm } from "node:fs/promises"
import { extname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = new URL("../", import.meta.url)

/** Names of `effect` that are not modules. */
const functions = new Set(["absurd", "flow", "hole", "identity", "pipe", "unsafeCoerce"])

/**
 * `import { Effect } from "effect"` reaches every module of the package, and a chunk loads all that it reaches: so each
 * module is imported by its own name here.
 */
const deepImports = {
  name: "deep-imports",
  setup({ onLoad }) {
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
      return { contents, loader: extname(path) === ".ts" ? "ts" : "js" }
    })
  }
}

const settings = (version) => ({
  absWorkingDir: fileURLToPath(root),
  bundle: true,
  plugins: [deepImports],
  format: "esm",
  platform: "node",
  target: "node20",
  splitting: true,
  chunkNames: "chunk-[hash]",
  minify: true,
  metafile: true,
  logLevel: "warning",
  define: { "process.env.COFFER_VERSION": JSON.stringify(version) },
  // Dependencies that are CommonJS call `require` for Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
  }
})

/**
 * @param alone modules that are bundles of their own: what they share with others is in both, and no more than it needs
 * @param own settings of the package
 */
const bundle = async (name, { alone = [], ...own } = {}) => {
  const folder = new URL(`packages/${name}/`, root)
  const outdir = fileURLToPath(new URL("dist/bundle/", folder))
  const source = (module) => fileURLToPath(new URL(`src/${module}.ts`, folder))
  const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"))
  const builds = [
    // What is loaded lazily, and only where it is installed, is left out too.
    {
      entryPoints: { main: source("main") },
      external: ["@coffer/server/*", ...(own.external ?? []), ...alone.map((module) => `./${module}.js`)]
    },
    ...alone.map((module) => ({ entryPoints: { [module]: source(module) } }))
  ]
  const results = await Promise.all(builds.map((each) => build({ ...settings(version), outdir, ...own, ...each })))
  // What an earlier build left is removed afterwards, so that a program that starts meanwhile finds its chunks.
  const current = new Set(
    results.flatMap(({ metafile }) => Object.keys(metafile.outputs).map((path) => resolve(fileURLToPath(root), path)))
  )
  const files = await readdir(outdir, { recursive: true, withFileTypes: true })
  const old = files.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name))
  await Promise.all(old.filter((file) => !current.has(file)).map((file) => rm(file)))
}

await Promise.all([
  bundle("cli", { alone: ["run/main"] }),
  bundle("mcp"),
  bundle("server", {
    // A stack trace in an operator's log names what failed.
    minify: false,
    minifyWhitespace: true,
    minifySyntax: true,
    external: ["@aws-sdk/*", "better-sqlite3", "nodemailer", "prom-client"]
  })
]).catch(() => {
  // esbuild has printed what is wrong.
  process.exitCode = 1
})

await import("./documents.mjs")
