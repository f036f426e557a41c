import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { version } from "../../src/Version.js"

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

export interface Packed {
  readonly name: string
  readonly size: number
  readonly files: Readonly<Record<string, string>>
}

/** The packages for applications. */
export const packages = (): ReadonlyArray<Packed> =>
  JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: join(import.meta.dirname, "../../../.."),
      encoding: "utf8",
      maxBuffer: 16 * 1024 * 1024
    })
  )

/** Installs a package as npm does, without a registry. */
export const install = (modules: string, name: string, { files }: Packed) => {
  for (const [path, text] of Object.entries(files)) {
    const target = join(modules, name, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
}
