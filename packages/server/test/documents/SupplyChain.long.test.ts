import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import type { Json } from "../support/Program.js"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const lockfile: Json = JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8"))
const entries = Object.entries<Json>(lockfile.packages)
const fetched = entries.filter(([path, { link }]) => path.includes("node_modules/") && link !== true)

const script = (...args: ReadonlyArray<string>) => spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" })

describe("the lockfile", () => {
  it("pins every package by the hash of its content", () => {
    assert.isAbove(fetched.length, 300)
    for (const [path, { integrity }] of fetched) assert.match(integrity ?? "", /^sha512-[A-Za-z0-9+/]{86}==$/, path)
  })

  it("holds no address: where packages come from is not its business", () => {
    for (const [path, { link, resolved }] of entries) {
      if (link === true) assert.match(resolved, /^packages\/[a-z0-9-]+$/, path)
      else assert.isUndefined(resolved, path)
    }
  })
})

describe("the version", () => {
  const manifestOf = (path: string): Json => JSON.parse(readFileSync(`${root}/${path}package.json`, "utf8"))
  const { version }: Json = manifestOf("")
  const packages = ["domain", "client", "client-effect4", "server", "cli", "mcp"].map((name) => `packages/${name}/`)

  it("is the same for every package, for what they need of each other, and in the lockfile", () => {
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.strictEqual(lockfile.version, version)
    for (const path of ["", ...packages]) {
      const manifest = manifestOf(path)
      const locked = lockfile.packages[path.replace(/\/$/, "")]
      for (const { dependencies, devDependencies, peerDependencies, version: own } of [manifest, locked]) {
        assert.strictEqual(own, version, path)
        for (const [name, needed] of Object.entries({ ...dependencies, ...devDependencies })) {
          if (name.startsWith("@coffer/")) assert.strictEqual(needed, version, `${path} needs ${name}`)
        }
        // A package that an application installs beside another may be newer.
        for (const [name, needed] of Object.entries(peerDependencies ?? {})) {
          if (name.startsWith("@coffer/")) assert.include([version, `^${version}`], needed, `${path} needs ${name}`)
        }
      }
    }
  })

  it("is what the programs print", () => {
    for (const [name, program] of Object.entries({ cli: "coffer", mcp: "coffer-mcp", server: "coffer-server" })) {
      const { stdout } = script(`packages/${name}/bin/${program}.js`, "--version")
      assert.strictEqual(stdout, `${version}\n`, program)
    }
  })

  it("is the version of the contract", () => {
    const { info }: Json = JSON.parse(readFileSync(`${root}/packages/server/dist/documents/openapi.json`, "utf8"))
    assert.strictEqual(info.version, version)
  })
})

describe("the pages that scripts write", { timeout: 120_000 }, () => {
  it("are what the contract and the settings are: docs/api.md, docs/configuration.md", () => {
    const { status, stderr } = script("scripts/reference.mjs", "--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  it("are what the lockfile holds, of licences that are on the list: docs/licences.md", () => {
    const { status, stderr } = script("scripts/licences.mjs", "--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })
})

describe("what is drawn and generated", { timeout: 120_000 }, () => {
  it("is what the imports are, with a row on the page for every room: docs/internals/architecture.svg", () => {
    const { status, stderr } = script("scripts/architecture.mjs", "--check")
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  it("is made by npm run generate, all of it", () => {
    const { scripts }: Json = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
    assert.strictEqual(scripts.generate, "node scripts/generate.mjs")
    const generate = readFileSync(`${root}/scripts/generate.mjs`, "utf8")
    const pages = readdirSync(`${root}/docs`, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(?:md|svg)$/.test(path))
      .map((path) => `docs/${path}`)
    const sources = ["domain", "client", "server", "cli", "mcp"].flatMap((name) =>
      ["src", "test"].flatMap((folder) =>
        readdirSync(`${root}/packages/${name}/${folder}`, { recursive: true, encoding: "utf8" })
          .filter((path) => path.endsWith(".ts"))
          .map((path) => `packages/${name}/${folder}/${path}`)
      )
    )
    const made = [...pages, ...sources].flatMap((path) => {
      const text = readFileSync(`${root}/${path}`, "utf8")
      const isMade = /(written|recorded|drawn) by `?(packages\/mcp\/)?scripts\/[a-z-]+\.mjs/i.test(text)
      return isMade || /toMatchFileSnapshot\("/.test(text) ? [path] : []
    })
    assert.isAtLeast(made.length, 6)
    for (const path of made) assert.include(generate, path)
  })
})

describe("npm run sbom", () => {
  it("prints a CycloneDX bill of materials: every package that runs, with its licence, and no build-only package", () => {
    const { status, stderr, stdout } = script("scripts/sbom.mjs")
    assert.strictEqual(status, 0, stderr)
    const bill: Json = JSON.parse(stdout)
    assert.strictEqual(bill.bomFormat, "CycloneDX")
    const names = bill.components.map(({ name, version }: Json) => `${name} ${version}`)
    const namesOf = (wanted: (entry: Json) => boolean) =>
      fetched
        .filter(([, entry]) => wanted(entry))
        .map(([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)} ${version}`)
    const running = new Set(namesOf(({ dev }) => dev !== true))
    assert.includeMembers(
      names,
      namesOf(({ dev, optional }) => dev !== true && optional !== true)
    )
    assert.deepStrictEqual(
      names.filter((name: string) => !running.has(name) && !name.startsWith("@coffer/")),
      []
    )
    for (const { hashes, licenses, name } of bill.components) {
      if (name.startsWith("@coffer/")) continue
      assert.isNotEmpty(licenses, name)
      assert.isNotEmpty(hashes, name)
    }
  })
})
