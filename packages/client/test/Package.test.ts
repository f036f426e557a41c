import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { version } from "../src/Version.js"

const folder = join(import.meta.dirname, "..")
const manifest: { readonly version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Prints the packages as the release makes them. */
const script = `
  import { archive, below } from "./scripts/release/archive.mjs"
  import { libraries } from "./scripts/release/libraries.mjs"
  const packed = Object.entries(await libraries({ version: "${version}" })).map(([name, files]) => ({
    name,
    size: archive(below("package", files), 0).length,
    files: Object.fromEntries(Object.entries(files).map(([path, content]) => [path, String(content)]))
  }))
  process.stdout.write(JSON.stringify(packed))`

interface Packed {
  readonly name: string
  readonly size: number
  readonly files: Readonly<Record<string, string>>
}

interface Manifest {
  readonly exports: object
  readonly dependencies?: object
  readonly peerDependencies: object
  readonly peerDependenciesMeta?: object
}

describe("the packages for applications", { timeout: 60_000 }, () => {
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: join(folder, "../.."),
    encoding: "utf8",
    maxBuffer: 8 * 1024 * 1024
  })
  const packed: ReadonlyArray<Packed> = JSON.parse(output)

  it.each([
    { name: `coffer-client-${version}.tgz`, exported: [".", "./promise", "./testing"], limit: 42_500 },
    { name: `coffer-client-effect4-${version}.tgz`, exported: ["."], limit: 120_000 },
    { name: `coffer-domain-${version}.tgz`, exported: ["./*"], limit: 209_000 }
  ])("$name is small, and has its modules, their types and what these import", ({ exported, limit, name }) => {
    const { files, size } = packed.find((one) => one.name === name) ?? assert.fail(`${name} is not made`)
    assert.isAtMost(size, limit)
    const guides = Object.keys(files).filter((path) => /^dist\/guides\/[a-z]+\.json$/.test(path))
    const modules = Object.entries(files).filter(([path]) => /^dist\/.*\.(js|d\.ts)$/.test(path))
    assert.sameMembers(Object.keys(files), [
      ...["LICENSE", "README.md", "package.json"],
      ...(name.includes("effect4") ? ["THIRD-PARTY-LICENCES.txt"] : []),
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
        const name = path.endsWith(".d.ts") ? from.replace(/\.js$/, ".d.ts") : from
        if (from.startsWith(".")) assert.property(files, join(dirname(path), name))
        else if (!from.startsWith("node:")) others.add(/^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? "")
      }
    }
    const optional = Object.keys(manifest.peerDependenciesMeta ?? {})
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    assert.sameMembers(
      [...others],
      needed.filter((name) => !optional.includes(name))
    )
  })
})

describe("the client for Effect 4", () => {
  it("adds at most 300 lines to the promises", () => {
    const source = join(folder, "../client-effect4/src")
    const lines = readdirSync(source).map((name) => readFileSync(join(source, name), "utf8").split("\n").length - 1)
    assert.isAtMost(
      lines.reduce((sum, count) => sum + count, 0),
      300
    )
  })
})

describe("the client", () => {
  it("knows its version", () => {
    assert.strictEqual(version, manifest.version)
  })

  it("is small in a bundle, beside Effect", { timeout: 60_000 }, async () => {
    const { metafile } = await build({
      entryPoints: [join(folder, "dist/index.js"), join(folder, "dist/promise.js")],
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
    const loaded = new Set(Object.keys(metafile.outputs).filter((path) => /\/out\/(index|promise)\.js$/.test(path)))
    for (const path of loaded) {
      const imports = metafile.outputs[path]?.imports ?? []
      for (const { kind, path: next } of imports)
        if (kind === "import-statement" && next in metafile.outputs) loaded.add(next)
    }
    const bytes = [...loaded].reduce((sum, path) => sum + (metafile.outputs[path]?.bytes ?? 0), 0)
    assert.isAtLeast(loaded.size, 3)
    assert.isAtMost(bytes, 44 * 1024)
    assert.deepStrictEqual(
      Object.keys(metafile.inputs).filter((path) => /node_modules\/(yaml|dotenv)\//.test(path)),
      []
    )
  })
})
