import { spawn } from "node:child_process"
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { root } from "../support/Documents.js"
import { finish } from "../support/Programs.js"
import { freshFolder, must, release, version } from "./Support.js"

const folder = freshFolder()
const made = join(folder, "release")
const app = join(folder, "app")
const modules = join(app, "node_modules")
const tarball = (name: string) => join(made, `coffer-${name}-${version}.tgz`)

const versionIn = (folder: string): string => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version

/** Copies of what this repository has, with what they need: two Effects on the disk, and no registry. */
const copies = Object.fromEntries(
  [
    ...["effect", "effect/node_modules/fast-check", "effect/node_modules/pure-rand", "@standard-schema/spec"],
    ...["@effect/platform", "find-my-way-ts", "msgpackr", "multipasta"],
    ...["@types/node", "undici-types", "dotenv", "yaml"]
  ].map((path) => [path.replace(/^.*node_modules\//, ""), `file:${root}node_modules/${path}`])
)

/** The oldest that the client works with, from the registry. */
const oldest = { effect: "3.22.2", "@effect/platform": "0.97.0", "@types/node": "20.19.43" }

const prepare = () => {
  mkdirSync(app)
  const dependencies = isSoak ? oldest : copies
  writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  for (const example of ["effect", "promise"]) {
    const source = `${root}packages/client/examples/${example}`
    cpSync(source, join(app, example), { recursive: true, filter: (path) => !path.endsWith(".test.ts") })
  }
  copyFileSync(join(import.meta.dirname, "Application.ts"), join(app, "main.ts"))
  writeFileSync(
    join(app, "internal.ts"),
    `// @ts-expect-error the package does not export it\nimport "@coffer/client/internal/ServerUrl"\n`
  )
  const compilerOptions = {
    ...{ strict: true, target: "es2022", lib: ["es2023"], module: "nodenext", types: ["node"] },
    ...{ noUncheckedSideEffectImports: true, outDir: "out", rootDir: "." }
  }
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts", "effect", "promise"] }))
}

const start = (program: string) =>
  finish(spawn(process.execPath, [join(app, "out", program)], { cwd: app, stdio: "pipe" }))

beforeAll(async () => {
  await release(["--libraries", "--out", made])
  prepare()
  const options = ["--ignore-scripts", "--no-audit", ...(isSoak ? [] : ["--offline", "--install-links"])]
  await must("npm", ["install", "--prefix", app, ...options, tarball("client"), tarball("domain")])
  // In place of an installation, which compiles SQLite.
  symlinkSync(`${root}packages/server`, join(modules, "@coffer/server"))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe("an application", () => {
  beforeAll(() => must(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "--project", app]))

  it("has one Effect: its own", () => {
    for (const name of ["client", "domain"]) assert.isFalse(existsSync(join(modules, "@coffer", name, "node_modules")))
    const expected = isSoak ? oldest.effect : versionIn(`${root}node_modules/effect`)
    assert.strictEqual(versionIn(join(modules, "effect")), expected)
    assert.isFalse(lstatSync(join(modules, "effect")).isSymbolicLink())
  })

  it("runs the examples with its own Effect against a server of its tests", async () => {
    const { code, stderr, stdout } = await start("main.js")
    assert.strictEqual(stdout, "effect: 31 characters, port 8080\npromise: 31 characters\n", stderr)
    assert.deepStrictEqual([code, stderr], [0, ""])
  })

  it("cannot import what is internal", async () => {
    const { code, stderr } = await start("internal.js")
    assert.strictEqual(code, 1)
    assert.include(stderr, "ERR_PACKAGE_PATH_NOT_EXPORTED")
  })
})
