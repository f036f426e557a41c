import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { circlesIn, modulesOf } from "../../../../scripts/architecture/imports.mjs"
import type { Json } from "../support/Program.js"

const root = join(import.meta.dirname, "../../../..")
const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
const manifest = (path: string): Json => JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"))

/** The reason that the page gives for each dependency. */
const reasons = new Map(
  [...page.matchAll(/^\| `((?:@[a-z-]+\/)?[a-z0-9-]+)` +\| (.+?) +\|$/gm)].map(([, name = "", why = ""]) => [name, why])
)

describe("the dependencies that docs/architecture.md gives a reason for", () => {
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

describe("the files of a package", () => {
  it.each(["domain", "client", "client-effect4", "server", "cli", "mcp", "console"])(
    "import each other in no circle, not even by types: %s",
    async (name) => {
      const modules = await modulesOf(name)
      assert.isAbove([...modules.values()].flatMap(({ imports }) => imports).length, 10)
      assert.deepStrictEqual(
        circlesIn(modules).map((circle) => circle.join(" → ")),
        []
      )
    }
  )

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
