/**
 * Bundles the two clients so that they start fast: one small entry file each, and chunks for what they import lazily. Then
 * makes the server's documents. Runs after `tsc -b`, because `@coffer/domain` resolves to its build.
 */
import { readFile, readdir, rm } from "node:fs/promises"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = new URL("../", import.meta.url)

const bundle = async (name) => {
  const folder = new URL(`packages/${name}/`, root)
  const outdir = fileURLToPath(new URL("dist/bundle/", folder))
  const { version } = JSON.parse(await readFile(new URL("package.json", folder), "utf8"))
  const { metafile } = await build({
    absWorkingDir: fileURLToPath(root),
    entryPoints: { main: fileURLToPath(new URL("src/main.ts", folder)) },
    outdir,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    splitting: true,
    chunkNames: "chunk-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    // Stack traces and the names of errors stay readable.
    minifyIdentifiers: false,
    keepNames: false,
    metafile: true,
    logLevel: "warning",
    // Loaded lazily, and only where it is installed.
    external: ["@coffer/server/*"],
    define: { "process.env.COFFER_VERSION": JSON.stringify(version) },
    // Dependencies that are CommonJS call `require` for Node's own modules.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    }
  })
  // What an earlier build left is removed afterwards, so that a program that starts meanwhile finds its chunks.
  const current = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
  const files = await readdir(outdir)
  await Promise.all(files.filter((file) => !current.has(file)).map((file) => rm(`${outdir}/${file}`)))
}

await Promise.all(["cli", "mcp"].map(bundle)).catch(() => {
  // esbuild has printed what is wrong.
  process.exitCode = 1
})

await import("./documents.mjs")
