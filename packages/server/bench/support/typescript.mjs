import { build } from "esbuild"
import { mkdirSync, writeFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

const compiled = new URL("../../../../node_modules/.cache/coffer-bench/", import.meta.url)

/** Imports a TypeScript module that is not a part of the build, such as one of the tests. */
export const importTypeScript = async (url) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(url)],
    bundle: true,
    format: "esm",
    packages: "external",
    platform: "node",
    write: false
  })
  // Where the module's dependencies are found, and no package is made of.
  const target = new URL(basename(url.pathname).replace(/\.ts$/, ".js"), compiled)
  mkdirSync(compiled, { recursive: true })
  writeFileSync(target, outputFiles[0].contents)
  return import(target.href)
}
