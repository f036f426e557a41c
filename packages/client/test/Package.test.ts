import { build } from "esbuild"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "vitest"
import { version } from "../src/Version.js"

interface Packed {
  readonly size: number
  readonly files: ReadonlyArray<{ readonly path: string }>
}

const folder = join(import.meta.dirname, "..")
const manifest: { readonly version: string; readonly exports: object } = JSON.parse(
  readFileSync(join(folder, "package.json"), "utf8")
)

describe("the package", () => {
  it("knows its version", () => {
    assert.strictEqual(version, manifest.version)
  })

  it("is small and complete, without source maps and what the compiler remembers", { timeout: 60_000 }, () => {
    const output = execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: folder, encoding: "utf8" })
    const [packed]: ReadonlyArray<Packed> = JSON.parse(output)
    assert.isDefined(packed)
    if (packed === undefined) return
    const files = packed.files.map(({ path }) => path)
    assert.isAtMost(packed.size, 56 * 1024)
    assert.includeMembers(files, ["README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts"])
    const lost = files.flatMap((path) =>
      path.startsWith("dist/")
        ? [...readFileSync(join(folder, path), "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)]
            .map(([, name = ""]) => join(dirname(path), path.endsWith(".d.ts") ? name.replace(/\.js$/, ".d.ts") : name))
            .filter((name) => !files.includes(name))
        : []
    )
    assert.deepStrictEqual(lost, [])
    assert.deepStrictEqual(
      files.filter((path) => /\.map$|buildinfo|\.test\.|examples/.test(path)),
      []
    )
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
    assert.isAtMost(bytes, 60 * 1024)
    assert.deepStrictEqual(
      Object.keys(metafile.inputs).filter((path) => /node_modules\/(yaml|dotenv)\//.test(path)),
      []
    )
  })
})
