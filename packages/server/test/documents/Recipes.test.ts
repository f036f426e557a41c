import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Api } from "@coffer/domain/Api"
import { errors } from "@coffer/domain/errors/Errors"
import { HttpApi } from "@effect/platform"
import picomatch from "picomatch"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "../../../..")
const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8")

/** Every file that a recipe may name, by its path from the root. */
const files = [
  ...["docs", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`)
  ),
  ...["domain", "client", "server", "cli", "mcp", "console"].flatMap((name) =>
    ["src", "test"].flatMap((folder) =>
      readdirSync(join(root, "packages", name, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `packages/${name}/${folder}/${path}`
      )
    )
  )
]
const sources = files.filter((path) => /^packages\/.*\.ts$/.test(path))
const textOf = (path: string) => readFileSync(join(root, path), "utf8")

interface Step {
  readonly file: string
  readonly holds: string
  /** Every path of the row. */
  readonly paths: ReadonlyArray<string>
}

/** The steps of each recipe, by its heading. */
const recipes = new Map(
  [...page.matchAll(/^### (Add .*)\n([^#]*(?:#[a-z-][^#]*)*)/gm)].map(([, title = "", body = ""]) => {
    const rows = [...body.matchAll(/^\| `([^`]+)` +\| (.*?) +\| (.*?) +\|$/gm)]
    const steps = rows.map(([row, file = "", , holds = ""]): Step => ({ file, holds, paths: pathsIn(row) }))
    return [title, steps]
  })
)

function pathsIn(text: string): ReadonlyArray<string> {
  return [...text.matchAll(/`((?:packages|scripts|docs)\/[^`]+)`/g)].map(([, path = ""]) => path)
}

/** The files that a path of a recipe stands for. A part in angle brackets is any name. */
const matches = (path: string) => picomatch(path.replace(/<[A-Za-z]+>/g, "*"))

const steps = (title: string): ReadonlyArray<Step> => {
  const found = recipes.get(title)
  assert.isDefined(found, title)
  return found ?? []
}

/** Files that hold at least a part of some words, and that no step of a recipe names. */
const missing = (title: string, words: ReadonlyArray<string>, part: number): ReadonlyArray<string> => {
  const named = steps(title).map(({ file }) => matches(file))
  const holders = sources.filter((path) => {
    const text = textOf(path)
    return words.filter((word) => text.includes(word)).length >= words.length * part
  })
  assert.isNotEmpty(holders, title)
  return holders.filter((path) => !named.some((isNamed) => isNamed(path)))
}

it("are there for the changes that are made most often", () => {
  assert.deepStrictEqual(
    [...recipes.keys()],
    [
      "Add an endpoint",
      "Add a field",
      "Add a command",
      "Add a tool",
      "Add an error code",
      "Add a migration or a table",
      "Add a setting"
    ]
  )
})

describe.each([...recipes.keys()])("the recipe %s", (title) => {
  it("names files that exist", () => {
    const rows = page.split("\n").filter((line) => steps(title).some(({ file }) => line.startsWith(`| \`${file}\``)))
    assert.isAtLeast(rows.length, 4)
    for (const path of [...new Set(rows.flatMap(pathsIn))]) {
      const isMeant = matches(path)
      assert.isTrue(
        files.some((file) => isMeant(file)),
        path
      )
    }
  })

  it("says of each step what fails without it: a test, the compiler, or nothing", () => {
    for (const { file, holds } of steps(title)) {
      assert.match(holds, /^(`packages\/[^`]+\.test\.ts`|the compiler|the tests of the feature|nothing: .+)$/, file)
    }
  })
})

describe("the list of files is complete", () => {
  const calls: Array<string> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      calls.push(`${endpoint.method} ${endpoint.path}`)
    }
  })

  it("for an endpoint: every table with a row for each", () => {
    // Tables write a part of the calls with a variable for the beginning of the path.
    assert.deepStrictEqual(missing("Add an endpoint", calls, 0.5), [])
  })

  it("for an error code: every table with a row for each", () => {
    const codes = errors.map(({ code }) => code)
    const tags = errors.map((error) => new error({ message: "" })._tag)
    assert.deepStrictEqual(missing("Add an error code", codes, 0.8), [])
    assert.deepStrictEqual(missing("Add an error code", tags, 0.8), [])
    for (const code of codes) assert.include(textOf("docs/api.md"), `\`${code}\``)
  })

  it("for a migration: every file that names each of both engines", () => {
    const names = sources.flatMap((path) => /\/database\/migrations\/(\d{4}_[a-z_]+)\.ts$/.exec(path)?.[1] ?? [])
    assert.isNotEmpty(names)
    assert.deepStrictEqual(missing("Add a migration or a table", names, 0.8), [])
  })
})
