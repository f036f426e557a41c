import { build } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { version } from "../src/Version.js"
import { packages } from "./support/Packed.js"

const folder = join(import.meta.dirname, "..")
const manifest: { readonly version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

interface Manifest {
  readonly exports: object
  readonly dependencies?: object
  readonly peerDependencies: object
}

describe("the packages for applications", { timeout: 60_000 }, () => {
  const packed = packages()

  it.each([
    {
      name: `coffer-client-${version}.tgz`,
      exported: [".", "./promise", "./promise/testing", "./testing"],
      limit: 290_000
    },
    { name: `coffer-client-effect4-${version}.tgz`, exported: ["."], limit: 134_000 },
    { name: `coffer-domain-${version}.tgz`, exported: ["./*"], limit: 248_000 }
  ])("$name is small, and has its modules, their types and what these import", ({ exported, limit, name }) => {
    const { files, size } = packed.find((one) => one.name === name) ?? assert.fail(`${name} is not made`)
    assert.isAtMost(size, limit)
    const guides = Object.keys(files).filter((path) => /^dist\/guides\/[a-z]+\.json$/.test(path))
    const modules = Object.entries(files).filter(([path]) => /^dist\/.*\.(c?js|d\.c?ts)$/.test(path))
    const bundles = !name.includes("domain")
    assert.sameMembers(Object.keys(files), [
      ...["LICENSE", "README.md", "package.json"],
      ...(bundles ? ["THIRD-PARTY-LICENCES.txt"] : []),
      ...(exported.includes("./promise") ? ["promise/package.json", "promise/testing/package.json"] : []),
      ...modules.map(([path]) => path),
      ...guides
    ])
    const manifest: Manifest = JSON.parse(files["package.json"] ?? "")
    assert.sameMembers(Object.keys(manifest.exports), exported)
    for (const field of ["private", "files", "scripts", "devDependencies"]) assert.notProperty(manifest, field)
    const others = new Set<string>()
    for (const [path, text] of modules) {
      assert.notInclude(text, "sourceMappingURL", path)
      // Node prints the line of an error that ends the program.
      assert.isBelow(Math.max(...text.split("\n").map(({ length }) => length)), 5_000, path)
      for (const [, from = ""] of text.matchAll(/\b(?:from|import)\s*\(?\s*"([\w@./:-]+)"/g)) {
        const name = /\.d\.c?ts$/.test(path) ? from.replace(/\.(c?)js$/, ".d.$1ts") : from
        if (from.startsWith(".")) assert.property(files, join(dirname(path), name))
        else if (!from.startsWith("node:")) others.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? "")
      }
    }
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    assert.sameMembers(
      [...others],
      // The tests' server is found at run time.
      declared.filter((name) => name !== "@coffer/server")
    )
  })
})

describe("the client for Effect 4", () => {
  it("adds at most 680 lines to the promises", () => {
    const source = join(folder, "../client-effect4/src")
    const lines = readdirSync(source).map((name) => readFileSync(join(source, name), "utf8").split("\n").length - 1)
    assert.isAtMost(
      lines.reduce((sum, count) => sum + count, 0),
      680
    )
  })
})

describe("the client", () => {
  it("knows its version", () => {
    assert.strictEqual(version, manifest.version)
  })

  it("is small in a bundle, beside Effect", { timeout: 60_000 }, async () => {
    const { metafile } = await build({
      entryPoints: [join(folder, "dist/index.js")],
      bundle: true,
      external: ["effect", "effect/*", "@effect/platform", "@effect/platform/*"],
      format: "esm",
      metafile: true,
      minify: true,
      outdir: join(folder, "out"),
      platform: "node",
      splitting: true,
      write: false
    })
    // The contract, which `call` loads, is apart.
    const loaded = new Set(Object.keys(metafile.outputs).filter((path) => /\/out\/index\.js$/.test(path)))
    for (const path of loaded) {
      const imports = metafile.outputs[path]?.imports ?? []
      for (const { kind, path: next } of imports)
        if (kind === "import-statement" && next in metafile.outputs) loaded.add(next)
    }
    const bytes = [...loaded].reduce((sum, path) => sum + (metafile.outputs[path]?.bytes ?? 0), 0)
    assert.isAtLeast(loaded.size, 2)
    assert.isAtMost(bytes, 46 * 1024)
    assert.deepStrictEqual(
      Object.keys(metafile.inputs).filter((path) => /node_modules\/(yaml|dotenv)\//.test(path)),
      []
    )
  })
})
