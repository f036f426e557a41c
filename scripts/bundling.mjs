/** The esbuild configuration of our programs, which bundle.mjs and the release share. */
import { readFile, rm } from "node:fs/promises"
import { basename, dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { leanToolProtocol } from "./tool-protocol.mjs"

export const root = new URL("../", import.meta.url)

/** The tools of coffer-mcp, from their schemas. Made here, because loading the schemas takes as long as its whole start may. */
const { listing } = await import("../packages/mcp/dist/Listing.js")

/** The publisher's public key, with which the client verifies releases; empty if there is none. */
const publicKey = await readFile(new URL("release-key.pem", root), "utf8").catch(() => "")

/** A script cannot use `import()` of what is outside of it: `__import` is a parameter of the function around it. */
const scriptImports = {
  name: "script-imports",
  setup({ initialOptions: { external }, onLoad }) {
    const names = external.map((name) => name.replace("*", '[^"]*')).join("|")
    const imports = new RegExp(`\\bimport\\("(${names})"\\)`, "g")
    onLoad({ filter: /packages\/(cli|mcp|server)\/src\/.*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      return { contents: source.replaceAll(imports, '__import("$1")'), loader: "ts" }
    })
  }
}

/**
 * Keeps Effect's pretty logger, which no program of ours uses, from looking at standard output when it is loaded: Node then
 * makes a pipe non-blocking, for the command of `coffer run` too.
 */
const withoutStreams = {
  name: "without-streams",
  setup({ onLoad }) {
    onLoad({ filter: /effect\/dist\/esm\/internal\/logger\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      return { contents: source.replaceAll("process.stdout", "undefined"), loader: "js" }
    })
  }
}

/** Optional dependencies, which are loaded lazily, are external. */
export const optional = ["@coffer/server/*"]

export const settings = (version) => ({
  absWorkingDir: fileURLToPath(root),
  bundle: true,
  plugins: [withoutStreams, leanToolProtocol],
  platform: "node",
  target: "node20",
  chunkNames: "chunk-[hash]",
  external: optional,
  minify: true,
  metafile: true,
  logLevel: "warning",
  define: {
    "process.env.COFFER_VERSION": JSON.stringify(version),
    COFFER_TOOLS: JSON.stringify(listing()),
    COFFER_RELEASE_KEY: JSON.stringify(publicKey)
  },
  // CommonJS dependencies call `require` for Node's modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
  }
})

/** For the client and the tool server. */
export const client = { inject: [fileURLToPath(new URL("scripts/form-data.mjs", root))] }

/** Keeps function names in the stack traces of operators' logs. */
export const readable = { minify: false, minifyWhitespace: true, minifySyntax: true }

/** Bundles entry modules, with chunks for lazy imports and shared code. */
export const bundleModules = async (entryPoints, outdir, options) => {
  const { metafile } = await build({ ...options, entryPoints, outdir, format: "esm", splitting: true })
  return metafile
}

/** Bundles an entry module as a script: a function of `module`, `require`, `__import` and `__url`. */
export const bundleScript = async (source, outfile, options) => {
  const { metafile } = await build({
    ...options,
    plugins: [...options.plugins, scriptImports],
    entryPoints: { [basename(outfile, ".cjs")]: source },
    outdir: dirname(outfile),
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    banner: { js: '(function(module,require,__import,__url){"use strict";' },
    footer: { js: "})" },
    define: { ...options.define, "import.meta.url": "__url" }
  })
  return metafile
}

/** The client's own file loads its scripts by `require`: the first `import()` of a process is slow. */
const requiredScripts = {
  name: "required-scripts",
  setup({ onLoad }) {
    onLoad({ filter: /packages\/cli\/src\/main\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8")
      const contents = source.replaceAll(/\bimport\("(\.\/[^"]*)\.js"\)/g, 'Promise.resolve(require("$1.cjs"))')
      return { contents, loader: "ts" }
    })
  }
}

/** Bundles the client's entry module, which loads little, as a module that Node requires. */
export const bundleMain = async (source, outdir, options) => {
  const { metafile } = await build({
    ...options,
    plugins: [...options.plugins, requiredScripts],
    entryPoints: { main: source },
    outdir,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    external: [...options.external, "./*.cjs"],
    banner: {}
  })
  return metafile
}

/** Options of a loader that is loaded with `require`: the parts of a module that it needs. */
const asRequired = {
  format: "cjs",
  banner: { js: 'const __url=require("node:url").pathToFileURL(__filename).href;' },
  define: { "import.meta.url": "__url" }
}

/**
 * Bundles a program's entry module as a script that starts with V8's compiled code.
 *
 * @param outfile the loader of the script: a module that is imported, or with the extension `cjs` required
 * @param names the exports of the module
 */
export const bundleCached = async (source, outfile, names, options) => {
  const kind = outfile.endsWith(".cjs") ? asRequired : { format: "esm" }
  // V8 checks only the length of a script against its cache. The name of the cache identifies the script.
  const named = { ...options, entryNames: "[name]-[hash]" }
  const script = await bundleScript(source, outfile.replace(/c?js$/, "cjs"), named)
  const [path] = Object.keys(script.outputs)
  const cache = path.replace(/cjs$/, "cache")
  // Another version of Node may have made the cache.
  await rm(new URL(cache, root), { force: true })
  const loader = await build({
    absWorkingDir: options.absWorkingDir,
    stdin: {
      contents: `import { exports } from "./files.mjs"; export const { ${names.join(", ")} } = exports`,
      resolveDir: fileURLToPath(new URL("scripts/code/", root))
    },
    outfile,
    bundle: true,
    platform: "node",
    target: options.target,
    minify: true,
    metafile: true,
    ...kind,
    define: { ...kind.define, "process.env.COFFER_SCRIPT": JSON.stringify(basename(path)) }
  })
  return {
    inputs: Object.keys(script.inputs),
    outputs: [...Object.keys(loader.metafile.outputs), path, cache]
  }
}
