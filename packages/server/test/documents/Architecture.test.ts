import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Array } from "effect"
import { assert, describe, it } from "vitest"
import { circlesIn, modulesOf } from "../../../../scripts/architecture/imports.mjs"
import type { Json } from "../support/Program.js"

const root = join(import.meta.dirname, "../../../..")
const page = readFileSync(join(root, "docs/internals/architecture.md"), "utf8")
const manifest = (path: string): Json => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"))

/** The reason that the page gives for each dependency. */
const reasons = new Map(
  [...page.matchAll(/^\| `((?:@[a-z-]+\/)?[a-z0-9-]+)` +\| (.+?) +\|$/gm)].map(([, name = "", why = ""]) => [name, why])
)

describe("the dependencies that docs/internals/architecture.md gives a reason for", () => {
  it("are those of the packages, all of them", () => {
    const dependencies = ["domain", "client", "server", "cli", "mcp", "console"].flatMap((name) =>
      Object.keys(manifest(`packages/${name}`).dependencies)
    )
    const fromElsewhere = dependencies.filter((name) => !name.startsWith("@coffer/"))
    assert.sameMembers([...reasons.keys()], [...new Set(fromElsewhere)])
  })

  it("are peers where the page calls them so", () => {
    const peers = [...reasons].filter(([, why]) => why.startsWith("Peer of "))
    assert.isNotEmpty(peers)
    for (const [name, why] of peers) {
      for (const [, owner = ""] of why.matchAll(/`([^`]+)`/g)) {
        assert.property(manifest(`node_modules/${owner}`).peerDependencies, name)
      }
    }
  })
})

describe("the migrations of the server", () => {
  it.each(["sqlite", "postgres"])(
    "import nothing of the program that may change what they once wrote: %s",
    (engine) => {
      const folder = join(root, "packages/server/src/database", engine, "migrations")
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"))
      assert.isNotEmpty(files)
      const imports = files.flatMap((name) =>
        [...readFileSync(join(folder, name), "utf8").matchAll(/ from "(\.[^"]+|@coffer\/[^"]+)"/g)].map(
          ([, from]) => from
        )
      )
      assert.deepStrictEqual(
        imports.filter((from) => from !== "../../Rows.js" && !/^\.\/\d{4}\/\w+\.js$/.test(from ?? "")),
        []
      )
    }
  )
})

/** Names of one role in each folder, and of the two engines: their folders are alike, and a file is found by its folder. */
const rolesInFolders = ["Archive", "Http", "Page", "Repo", "main", "testing"]
const rolesOfEngines = ["Connection", "Migrations"]

/** Files whose name, without regard to case and ending, another file of the package has too. */
const sharingNames = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const nameOf = (path: string) => basename(path).replace(/\.tsx?$/, "")
  const isRole = (path: string) =>
    rolesInFolders.includes(nameOf(path)) ||
    (rolesOfEngines.includes(nameOf(path)) && /^database\/(sqlite|postgres)\//.test(path))
  const named = Array.groupBy(
    paths.filter((path) => !isRole(path)),
    (path) => nameOf(path).toLowerCase()
  )
  return Object.values(named).flatMap((files) => (files.length > 1 ? [files.join(", ")] : []))
}

const packages = ["domain", "client", "client-effect4", "server", "cli", "mcp", "console"]

describe("the files of a package", () => {
  it.each(packages)("have each a name of their own, but for one role in each folder: %s", async (name) => {
    const paths = [...(await modulesOf(name)).keys()]
    assert.isNotEmpty(paths)
    assert.deepStrictEqual(sharingNames(paths), [])
  })

  it("that share a name are named, and roles are not", () => {
    const paths = ["a/Options.ts", "b/options.tsx", "a/Repo.ts", "b/Repo.ts", "Connection.ts", "other/Connection.ts"]
    assert.deepStrictEqual(sharingNames([...paths, "database/sqlite/Connection.ts"]), [
      "a/Options.ts, b/options.tsx",
      "Connection.ts, other/Connection.ts"
    ])
  })

  it.each(packages)("import each other in no circle, not even by types: %s", async (name) => {
    const modules = await modulesOf(name)
    assert.isAbove([...modules.values()].flatMap(({ imports }) => imports).length, 10)
    assert.deepStrictEqual(
      circlesIn(modules).map((circle) => circle.join(" → ")),
      []
    )
  })

  it("on a circle are named, and others are not", () => {
    const importing = (...imports: ReadonlyArray<string>) => ({ room: ".", imports, packages: [] })
    const modules = new Map([
      ["a.ts", importing("b.ts")],
      ["b.ts", importing("c.tsx", "d.ts")],
      ["c.tsx", importing("a.ts")],
      ["d.ts", importing()]
    ])
    assert.deepStrictEqual(circlesIn(modules), [
      ["a.ts", "b.ts", "c.tsx", "a.ts"],
      ["b.ts", "c.tsx", "a.ts", "b.ts"],
      ["c.tsx", "a.ts", "b.ts", "c.tsx"]
    ])
  })
})
