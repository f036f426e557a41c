import { Either } from "effect"
import * as fc from "fast-check"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { applyFilter, type FilterName } from "@coffer/domain/formats/Filters"
import { fillTemplate, parseTemplate } from "@coffer/domain/formats/Template"
import { node } from "../support/Programs.js"
import { tricky, values } from "./Support.js"

const samples = [...new Set([...tricky, ...fc.sample(values, { numRuns: 300, seed: 42 })])]

/** Returns the values that the filter can write. */
const writable = (filter: FilterName, all = samples) =>
  all.filter((value) => Either.isRight(applyFilter(filter, value)))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "coffer-filters-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Renders a line for each value, and writes the file. */
const rendered = (
  all: ReadonlyArray<string>,
  line: (key: string) => string,
  [before, between, after] = ["", "", ""]
) => {
  const template = before + all.map((_, index) => line(`V${index}`)).join(between) + after
  const parts = Either.getOrThrow(parseTemplate(template))
  const filled = Either.getOrThrow(fillTemplate(parts, ({ key }) => all[Number(key.slice(1))]))
  const path = join(folder, "rendered")
  writeFileSync(path, filled.map(({ text }) => text).join(""))
  return path
}

const run = (command: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  execFileSync(command, args, {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", ...env },
    maxBuffer: 64 * 1024 * 1024
  })

const has = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0

const variables = (found: Readonly<Record<string, string>>, all: ReadonlyArray<string>) =>
  all.map((_, index) => found[`V${index}`])

const printVariables = "process.stdout.write(JSON.stringify(process.env))"

const list = ["[", ",", "]"] as const

describe("a value behind a filter is read by", () => {
  it("sh: shell", () => {
    const all = writable("shell")
    const path = rendered(all, (key) => `export ${key}={{${key} | shell}}\n`)
    const script = `. "$FILE"; exec "$NODE" -e "$PRINT"`
    const found = run("sh", ["-c", script], { FILE: path, NODE: process.execPath, PRINT: printVariables })
    assert.deepStrictEqual(variables(JSON.parse(found), all), all)
  })

  it("node: json, and env by --env-file", () => {
    const read = "process.stdout.write(JSON.stringify(require(process.argv[1])))"
    const path = rendered(samples, (key) => `{{${key} | json}}`, ["module.exports = [", ",", "]"])
    assert.deepStrictEqual(JSON.parse(run(node, ["-e", read, path])), samples)
    const all = writable("env")
    assert.isAbove(all.length, samples.length / 3)
    const found = run(node, [`--env-file=${rendered(all, (key) => `${key}={{${key} | env}}\n`)}`, "-e", printVariables])
    assert.deepStrictEqual(variables(JSON.parse(found), all), all)
  })

  it("jq: json", (context) => {
    context.skip(!has("jq", "--version"), "jq is not installed")
    const path = rendered(samples, (key) => `{{${key} | json}}`, [...list])
    assert.deepStrictEqual(JSON.parse(run("jq", ["-c", ".", path])), samples)
  })

  it("python3: json, base64, url and yaml", (context) => {
    context.skip(!has("python3", "--version"), "python3 is not installed")
    const readers = {
      json: "x",
      base64: "base64.b64decode(x, validate=True).decode()",
      url: "urllib.parse.unquote(x, errors='strict')"
    } as const
    for (const filter of ["json", "base64", "url"] as const) {
      const quote = filter === "json" ? "" : '"'
      const path = rendered(samples, (key) => `${quote}{{${key} | ${filter}}}${quote}`, [...list])
      const script = `import base64, json, sys, urllib.parse
print(json.dumps([${readers[filter]} for x in json.load(open(sys.argv[1], encoding="utf-8"))]))`
      assert.deepStrictEqual(JSON.parse(run("python3", ["-c", script, path])), samples, filter)
    }
    context.skip(!has("python3", "-c", "import yaml"), "PyYAML is not installed")
    const path = rendered(samples, (key) => `- {{${key} | yaml}}\n`)
    const script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))"
    assert.deepStrictEqual(JSON.parse(run("python3", ["-c", script, path])), samples)
  })

  /** src/basic/env-file.c of systemd: the value of one assignment. */
  const systemdValue = (text: string): string => {
    const parts = [...text.matchAll(/'([^']*)'|"((?:[^"\\]|\\[^])*)"/g)]
    assert.strictEqual(parts.map(([part]) => part).join(""), text)
    return parts.map(([, single, double]) => single ?? double?.replace(/\\(["\\`$])/g, "$1") ?? "").join("")
  }

  /** systemd drops a variable with another control character than tab and line feed, or with what Unicode calls none. */
  const ofSystemd = writable("shell").filter(
    (value) => !/[\x00-\x08\x0b-\x1f\x7f-\x9f]|\p{Noncharacter_Code_Point}/u.test(value)
  )

  it("systemd's EnvironmentFile, by its grammar: shell", () => {
    for (const value of ofSystemd)
      assert.strictEqual(systemdValue(Either.getOrThrow(applyFilter("shell", value))), value)
  })

  it("systemd's own parser: shell", (context) => {
    const generator = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
    context.skip(!existsSync(generator), "systemd is not installed")
    // Files of environment.d have the same grammar; only there, variables are then replaced and none is empty.
    const all = ofSystemd.filter((value) => value !== "" && !value.includes("$"))
    mkdirSync(join(folder, "environment.d"), { recursive: true })
    const path = rendered(all, (key) => `${key}={{${key} | shell}}\n`)
    const home = { HOME: folder, XDG_CONFIG_HOME: folder }
    run("cp", [path, join(folder, "environment.d/test.conf")])
    const found = new Map(
      [...run(generator, [], home).matchAll(/^(\w+)=([^\n]*)$/gm)].map(([, key = "", text = ""]) => {
        const inner = text.startsWith('"') ? text.slice(1, -1) : text
        const plain = { n: "\n", t: "\t" } as Record<string, string>
        return [key, inner.replace(/\\([^])/g, (_, letter: string) => plain[letter] ?? letter)] as const
      })
    )
    assert.deepStrictEqual(
      all.map((_, index) => found.get(`V${index}`)),
      all
    )
  })
})
