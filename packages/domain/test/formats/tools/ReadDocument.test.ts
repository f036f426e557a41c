import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import * as Redacted from "effect/Redacted"
import { spawnSync } from "node:child_process"
import { assert, describe, it } from "vitest"
import { json } from "../../../src/formats/Json.js"
import { yaml } from "../../../src/formats/Yaml.js"
import type { ImportTarget } from "../../../src/formats/tools/ImportTarget.js"
import { planImport } from "../../../src/formats/tools/ImportPlan.js"
import { readDocument } from "../../../src/formats/tools/ReadDocument.js"
import type { ReadOptions } from "../../../src/formats/tools/Tool.js"
import { type ToolName, toolNames } from "../../../src/formats/tools/ToolNames.js"
import { EnvName, ProjectName } from "../../../src/base/Names.js"
import { runs } from "../../support/Runs.js"
import { badSamples, hidden, samples, vaultV1 } from "./Documents.js"

const read = (tool: ToolName, text: string, options?: Partial<ReadOptions>) =>
  Effect.runPromise(Effect.either(readDocument(tool, "x", Redacted.make(text), options)))

const reads = async (tool: ToolName, text: string, options?: Partial<ReadOptions>) =>
  Either.getOrElse(await read(tool, text, options), (bad) => assert.fail(bad.lines.join("\n")))

const names = (record: Readonly<Record<string, string>> = {}) => new Map(Object.entries(record))

const target = (more: Partial<ImportTarget> = {}): ImportTarget => ({
  project: ProjectName.make("shop"),
  env: EnvName.make("dev"),
  envs: names(),
  projects: names(),
  keys: names(),
  ...more
})

/** Returns the values that a plan writes, by `project/env`, with marks as in the samples. */
const written = (plan: ReturnType<typeof planImport>) =>
  Object.fromEntries(
    plan.envs.map(({ env, keys, project, references, set }) => {
      const texts = new Map<string, string>([
        ...[...set].map(([key, value]) => [key, Redacted.value(value)] as const),
        ...[...references].map(([key, value]) => [key, `reference ${Redacted.value(value)}`] as const)
      ])
      const marks: Readonly<Record<string, string>> = { unsupported: "!", left: "-" }
      return [
        `${project}/${env}`,
        Object.fromEntries(
          keys.map(({ key, state }) => [`${marks[state] ?? ""}${key}`, marks[state] ? "" : texts.get(key)])
        )
      ]
    })
  )

describe("a document that a tool prints", () => {
  for (const { holds, name, options, text, tool } of samples) {
    it(`is read: ${name}`, async () => {
      const document = await reads(tool, text, options)
      const found = document.places.map(({ env, project }) => [project, env].filter(Boolean).join("/"))
      assert.deepStrictEqual(found, Object.keys(holds))
      const plan = planImport(document, target())
      assert.deepStrictEqual(plan.problems, [])
      const values = Object.values(written(plan))
      // A single place goes where the settings say.
      if (found.length === 1)
        assert.deepStrictEqual(
          plan.envs.map(({ env, project }) => `${project}/${env}`),
          ["shop/dev"]
        )
      assert.sameDeepMembers(values, Object.values(holds))
    })
  }

  it("is refused with place and reason, and without a value", async () => {
    for (const [name, { says, text, tool }] of Object.entries(badSamples)) {
      const found = await read(tool, text)
      const bad = Either.isLeft(found) ? found.left : assert.fail(name)
      assert.match(bad.lines.join("\n"), says, name)
      assert.notInclude(`${bad.message} ${bad.lines.join("\n")} ${JSON.stringify(found)}`, hidden, name)
    }
  })

  it("shows no value where it is printed", async () => {
    for (const { options, text, tool } of samples) {
      const document = await reads(tool, text, options)
      const plan = planImport(document, target())
      assert.notInclude(JSON.stringify([document, plan, [...plan.envs.flatMap(({ set }) => [...set])]]), "k-8c1f")
    }
  })

  it("may be followed by others, or stand in a list of them", async () => {
    const one = JSON.stringify(vaultV1({ A: "1" }))
    const two = JSON.stringify(vaultV1({ B: "2" }))
    for (const text of [`${one}\n${two}\n`, `[${one},${two}]`]) {
      const plan = planImport(await reads("vault", text), target())
      assert.deepStrictEqual(written(plan), { "shop/dev": { A: "1", B: "2" } })
    }
  })

  const kubectl = (...args: ReadonlyArray<string>) => spawnSync("kubectl", args, { encoding: "utf8" })

  it.skipIf(kubectl("version", "--client").status !== 0)(
    "is read as kubectl of this machine prints it (needs kubectl in the PATH)",
    async () => {
      const literals = ["A=two words", "B=line\nline", "C="].map((each) => `--from-literal=${each}`)
      const create = ["create", "secret", "generic", "webshop", ...literals, "--dry-run=client", "--output"]
      for (const format of ["yaml", "json"]) {
        const plan = planImport(await reads("kubernetes", kubectl(...create, format).stdout), target())
        assert.deepStrictEqual(written(plan), { "shop/dev": { A: "two words", B: "line\nline", C: "" } })
      }
    }
  )

  it("reads what Coffer exports, to the same values", async () => {
    const key = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,9}$/)
    const value = fc.string({ unit: "binary", maxLength: 20 }).filter((text) => text.isWellFormed())
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { minKeys: 1, noNullPrototype: true }), async (record) => {
        const pairs = Object.entries(record).map(([name, text]) => ({ key: name, value: text }))
        for (const [format, tool] of [
          [json, "sops"],
          [json, "dotenvx"],
          [yaml, "sops"],
          [yaml, "phase"]
        ] as const) {
          const document = await reads(tool, format.write(pairs))
          const found = document.places.flatMap(({ keys }) =>
            keys.map((each) => [each.key, Redacted.value(each.value)])
          )
          assert.deepStrictEqual(
            found,
            pairs.map((each) => [each.key, each.value])
          )
        }
      }),
      { numRuns: runs(100) }
    )
  })

  it("never fails with anything but a mistake, whatever the text", async () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "a",
      "\n",
      " ",
      "- ",
      "&a",
      "*a",
      "!!x",
      "data",
      "1",
      "null",
      "=",
      "'"
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...toolNames), fc.array(piece, { maxLength: 30 }), async (tool, pieces) => {
        const found = await read(tool, pieces.join(""))
        if (Either.isLeft(found)) assert.strictEqual(found.left._tag, "BadFile")
      }),
      { numRuns: runs(400) }
    )
  })
})

describe("a plan", () => {
  const doppler = (project: string, config: string, keys: Readonly<Record<string, string>>) => ({
    ...Object.fromEntries(Object.entries(keys).map(([key, raw]) => [key, { raw, computed: `computed ${key}` }])),
    DOPPLER_PROJECT: { raw: project, computed: project },
    DOPPLER_CONFIG: { raw: config, computed: config }
  })
  const planOf = async (documents: ReadonlyArray<unknown>, more?: Partial<ImportTarget>) =>
    planImport(await reads("doppler", documents.map((each) => JSON.stringify(each)).join("\n")), target(more))

  it("keeps the names of several environments, and renames those that are mapped", async () => {
    const plan = await planOf([doppler("web", "dev", { A: "1" }), doppler("web", "prd", { A: "2" })], {
      envs: names({ prd: "prod" })
    })
    assert.deepStrictEqual(
      plan.envs.map(({ env, project, source }) => [source, project, env]),
      [
        ["doppler:web/dev", "shop", "dev"],
        ["doppler:web/prd", "shop", "prod"]
      ]
    )
  })

  it("keeps the names of several projects, and says which are not valid here", async () => {
    const plan = await planOf([doppler("web", "dev", {}), doppler("Bills", "dev_ada", {})])
    assert.deepStrictEqual(
      plan.envs.map(({ env, project }) => `${project}/${env}`),
      ["web/dev"]
    )
    assert.match(plan.problems.join(), /doppler:Bills\/dev_ada: a project name .* --project-map "Bills=NAME"/)
    const renamed = await planOf([doppler("web", "dev", {}), doppler("Bills", "dev_ada", {})], {
      projects: names({ Bills: "bills" }),
      envs: names({ dev_ada: "ada" })
    })
    assert.deepStrictEqual(renamed.problems, [])
    assert.deepStrictEqual(
      renamed.envs.map(({ env, project }) => `${project}/${env}`),
      ["web/dev", "bills/ada"]
    )
  })

  it("translates references within a project, and writes what they lead to first", async () => {
    const plan = await planOf(
      [
        doppler("web", "dev", {
          HERE: "x-${TOKEN}",
          TOKEN: "t",
          OTHER: "${prd.TOKEN}",
          FULL: "${web.prd.TOKEN}",
          FAR: "${bills.dev.TOKEN}",
          NONE: "${MISSING}",
          SELF: "${SELF}",
          BOTH: "${TOKEN} $${x}"
        }),
        doppler("web", "prd", { TOKEN: "p" }),
        doppler("bills", "dev", { TOKEN: "b" })
      ],
      { envs: names({ prd: "prod" }), keys: names({ TOKEN: "API_TOKEN" }) }
    )
    const [first, second] = plan.envs
    assert.deepStrictEqual([first?.env, second?.env, second?.needs], ["prod", "dev", ["prod"]])
    assert.deepStrictEqual(written(plan)["web/dev"], {
      HERE: "reference x-${API_TOKEN}",
      API_TOKEN: "computed TOKEN",
      OTHER: "reference ${prod:API_TOKEN}",
      FULL: "reference ${prod:API_TOKEN}",
      FAR: "computed FAR",
      NONE: "computed NONE",
      SELF: "computed SELF",
      BOTH: "computed BOTH",
      "-DOPPLER_PROJECT": "",
      "-DOPPLER_CONFIG": ""
    })
    const far = second?.keys.find(({ key }) => key === "FAR")
    assert.deepStrictEqual([far?.references, far?.stored], [["${bills.dev.TOKEN}"], "resolved"])
  })

  it("names keys that cannot be stored with place and reason, and how to rename them", async () => {
    const text = JSON.stringify({ "a b": "1", ok: "2", big: "x".repeat(70_000), ok2: "3" })
    const document = await reads("phase", `${text}\n{"ok": "again"}`)
    const whys = (more: Partial<ImportTarget> = {}) =>
      planImport(document, target(more)).envs.flatMap(({ keys }) =>
        keys.flatMap(({ key, line, why }) => (why === undefined ? [] : [`${key} (${line}): ${why}`]))
      )
    const found = whys()
    assert.match(found[0] ?? "", /^a b \(1\): has a name that cannot be stored: .* --map-key "a b=NAME"$/)
    assert.match(found[1] ?? "", /^big \(1\): has a value that cannot be stored: .*64 KB/)
    assert.match(found[2] ?? "", /^ok \(2\): is here twice, first on line 1; rename it with --map-key "ok=NAME"$/)
    assert.strictEqual(found.length, 3)
    assert.strictEqual(whys({ keys: names({ "a b": "A_B" }) }).length, 2)
  })

  it("says before anything is written that an environment takes no more", async () => {
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`K${index}`, "x"]))
    assert.match(
      planImport(await reads("phase", JSON.stringify(many)), target()).problems.join(),
      /2001 keys, and at most 2000/
    )
    const large = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`K${index}`, "x".repeat(60_000)]))
    assert.match(
      planImport(await reads("phase", JSON.stringify(large)), target()).problems.join(),
      /larger than 16 MiB/
    )
  })
})
