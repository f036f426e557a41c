import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "vitest"
import { quoteForYaml } from "../../../src/formats/YamlText.js"
import { planImport } from "../../../src/formats/tools/ImportPlan.js"
import { readDocument } from "../../../src/formats/tools/ReadDocument.js"
import type { ToolName } from "../../../src/formats/tools/ToolNames.js"
import { EnvName, ProjectName } from "../../../src/base/Names.js"
import { runs } from "../../support/Runs.js"

const pem = "-----BEGIN KEY-----\nMIIBVQIBADANBg==\nq+/x\n-----END KEY-----\n"

/** Values that a reader with the wrong rules changes. */
const awkward: ReadonlyArray<string> = [
  "",
  "plain",
  " ",
  "  both ends  ",
  "\ttab at the start",
  "tab at the end\t",
  "a # b",
  "a #b",
  "a#b",
  "#starts",
  "a=b=c",
  "=starts",
  "export X=1",
  "C:\\new\\table",
  "C:\\\\server\\share",
  "ends with \\",
  "ends with \\\\",
  "\\n",
  "a\\nb",
  "a\\rb\\tc",
  "\\u0041",
  "two\nlines",
  pem,
  "\nstarts with a line feed",
  "ends with a line feed\n",
  "an empty\n\nline",
  "a\r\nb",
  "ends with a carriage return\r",
  '"in double quotes"',
  "'in single quotes'",
  "`in backticks`",
  'one " quote',
  "one ' quote",
  "one ` quote",
  "say \"hi\" and 'bye'",
  '"',
  "'",
  '""',
  "''",
  'a"\nb',
  "a'\nb",
  'ends with a quote"',
  "ends with a quote'",
  "$HOME",
  "${HOST}",
  "https://${HOST}/x",
  "$$",
  "$(id)",
  "100%",
  '{"a":"b\\n","c":[1]}',
  "postgres://u:p%40ss@db:5432/x?ssl=true#f",
  "ünïcödé 🔑",
  "a: b",
  "- a"
]

interface Writer {
  readonly tool: ToolName
  readonly name: string
  /** Writes as the tool does. */
  readonly write: (pairs: ReadonlyArray<readonly [string, string]>) => string
  /** Returns the value that the tool itself reads back. Absent if that is the value that it wrote. */
  readonly reads?: (value: string) => string
}

const lines =
  (line: (key: string, value: string) => string): Writer["write"] =>
  (pairs) =>
    pairs.map(([key, value]) => `${line(key, value)}\n`).join("")

const feeds = (value: string) => value.replaceAll("\n", "\\n")

/** The value that `dotenvx get` of v1.75.1 prints of its own text: tried with it for each of the values. */
const dotenvxReads = (value: string) =>
  value === 'a"\nb'
    ? "a"
    : value.replaceAll(/\r\n?/g, "\n").replaceAll("\\n", "\n").replaceAll("\\r", "\r").replaceAll("\\t", "\t")

const writers: ReadonlyArray<Writer> = [
  { tool: "sops", name: ".env", write: lines((key, value) => `${key}=${feeds(value)}`) },
  { tool: "phase", name: "dotenv", write: lines((key, value) => `${key}="${value}"`) },
  { tool: "infisical", name: "dotenv", write: lines((key, value) => `${key}='${value}'`) },
  {
    tool: "infisical",
    name: "dotenv-export with encoded lines",
    write: lines((key, value) => `export ${key}='${feeds(value)}'`)
  },
  {
    tool: "infisical",
    name: "yaml with encoded lines",
    write: lines((key, value) => `${key}: ${quoteForYaml(feeds(value))}`)
  },
  {
    tool: "doppler",
    name: "env",
    write: lines((key, value) => `${key}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`)
  },
  { tool: "doppler", name: "docker", write: lines((key, value) => `${key}=${value}`) },
  {
    tool: "dotenvx",
    name: ".env",
    write: lines((key, value) => `${key}="${value}"`),
    reads: dotenvxReads
  },
  ...(["sops", "phase", "doppler", "dotenvx"] as const).map((tool): Writer => ({
    tool,
    name: "json",
    write: (pairs) => JSON.stringify(Object.fromEntries(pairs))
  }))
]

const read = async (tool: ToolName, text: string) =>
  Effect.runPromise(Effect.either(readDocument(tool, "x", Redacted.make(text))))

/** Returns the result of reading a value: the value, with notes, or a refusal with its line. */
const reading = async ({ tool, write }: Writer, value: string) => {
  const found = await read(
    tool,
    write([
      ["BEFORE", "first"],
      ["VALUE", value],
      ["AFTER", "last"]
    ])
  )
  if (Either.isLeft(found)) return { refused: found.left.lines }
  const keys = found.right.places.flatMap((place) => place.keys)
  const one = keys.find(({ key }) => key === "VALUE")
  return {
    value: one === undefined ? undefined : Redacted.value(one.value),
    notes: one?.notes ?? [],
    others: keys.filter(({ key }) => key !== "VALUE").map(({ key, value }) => [key, Redacted.value(value)])
  }
}

const others = [
  ["BEFORE", "first"],
  ["AFTER", "last"]
]

describe("a .env text of a tool", () => {
  it("has 54 awkward values to be read", () => {
    assert.strictEqual(new Set(awkward).size, 54)
  })

  for (const writer of writers) {
    it(`is read by the rules of its writer, or noted: ${writer.tool}, ${writer.name}`, async () => {
      for (const value of awkward) {
        const found = await reading(writer, value)
        if (found.refused !== undefined) {
          assert.match(found.refused.join("\n"), /^x, line \d+: /, JSON.stringify(value))
          continue
        }
        assert.deepStrictEqual(found.others, others, `${JSON.stringify(value)}: the keys beside it`)
        if (found.value !== (writer.reads?.(value) ?? value))
          assert.isNotEmpty(found.notes, JSON.stringify([value, found.value]))
      }
    })
  }

  it("is exact for as many values as its writer can tell apart", async () => {
    const exact: Record<string, number> = {}
    for (const writer of writers) {
      const found = await Promise.all(awkward.map(async (value) => (await reading(writer, value)).value === value))
      exact[`${writer.tool} ${writer.name}`] = found.filter(Boolean).length
    }
    assert.deepStrictEqual(exact, {
      "sops .env": 50,
      "phase dotenv": 54,
      "infisical dotenv": 54,
      "infisical dotenv-export with encoded lines": 46,
      "infisical yaml with encoded lines": 46,
      "doppler env": 54,
      "doppler docker": 46,
      "dotenvx .env": 40,
      "sops json": 54,
      "phase json": 54,
      "doppler json": 54,
      "dotenvx json": 54
    })
  })

  it("is exact for random values where the writer loses nothing", async () => {
    const value = fc.string({
      unit: fc.constantFrom("a", " ", '"', "'", "\\", "\n", "=", "#", "$", "{", "}"),
      maxLength: 12
    })
    const begins = /["']\s*\n\s*(?:export\s+)?[A-Za-z_][\w.-]*=|["']\s*\n\s*#/
    await fc.assert(
      fc.asyncProperty(value, async (text) => {
        fc.pre(!begins.test(text))
        for (const writer of writers.filter(
          ({ name, tool }) => tool === "phase" || (tool === "doppler" && name === "env")
        )) {
          const found = await reading(writer, text)
          assert.strictEqual(found.value, text, `${writer.tool} ${JSON.stringify(found)}`)
        }
      }),
      { numRuns: runs(300) }
    )
  })

  it("in an unsupported form is refused, and the refusal says with what to replace it", async () => {
    const forms: ReadonlyArray<readonly [ToolName, string, RegExp]> = [
      ["infisical", "Key,Value\nA,b\n", /line 1: is CSV, .* infisical export --format=json prints/],
      ["sops", "[DEFAULT]\nA = b\n", /line 1: is INI, .* sops --decrypt --output-type json FILE prints/],
      ["phase", "[DEFAULT]\nA = b%%\n", /line 1: is INI/],
      ["phase", '<Secrets>\n  <secret name="A">b</secret>\n</Secrets>\n', /line 1: is XML/],
      ["phase", 'A = "b"\n', /line 1: is TOML or HCL/],
      ["phase", 'variable "A" {\n  default = "b"\n}\n', /line 1: is TOML or HCL/]
    ]
    for (const [tool, text, says] of forms) {
      const found = await read(tool, text)
      assert.match(Either.isLeft(found) ? found.left.lines.join("\n") : "was read", says, text)
    }
  })

  it("is refused if it is not whole", async () => {
    const wrapped = {
      request_id: "r",
      lease_id: "",
      lease_duration: 0,
      data: null,
      wrap_info: { token: "hvs.x", ttl: 60 }
    }
    const documents: ReadonlyArray<readonly [ToolName, unknown, RegExp]> = [
      ["aws-sm", { SecretValues: [], NextToken: "t" }, /is one page of several, because it has a NextToken/],
      ["vault", wrapped, /is a wrapped response without values: unwrap it with vault unwrap/],
      ["vault", { "shop/dev": wrapped }, /is a wrapped response/],
      ["vault", { ...wrapped, wrap_info: null }, /is a response without data/],
      [
        "kubernetes",
        { apiVersion: "v1", kind: "SecretList", metadata: { continue: "x" }, items: [] },
        /metadata has continue/
      ]
    ]
    for (const [tool, document, says] of documents) {
      const found = await read(tool, JSON.stringify(document))
      assert.match(Either.isLeft(found) ? found.left.lines.join("\n") : "was read", says)
    }
  })

  it("keeps the notes of a value in the plan", async () => {
    const found = await read("dotenvx", 'HOST=a.example\nDOMAIN="https://${HOST}"\n')
    const document = Either.getOrElse(found, (bad) => assert.fail(bad.message))
    const target = {
      project: ProjectName.make("shop"),
      env: EnvName.make("dev"),
      envs: new Map(),
      projects: new Map(),
      keys: new Map()
    }
    const notes = planImport(document, target).envs.flatMap(({ keys }) =>
      keys.map(({ key, line, notes }) => [key, line, notes])
    )
    assert.deepStrictEqual(notes, [
      ["HOST", 1, []],
      ["DOMAIN", 2, ["contains ${…}, which is kept as it is"]]
    ])
  })
})
