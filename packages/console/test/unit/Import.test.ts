import { planImport } from "@coffer/domain/formats/tools/ImportPlan"
import { readDocument } from "@coffer/domain/formats/tools/ReadDocument"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assert, describe, it } from "vitest"
import { withoutOption } from "../../src/pages/matrix/import/Messages.js"
import { recognise } from "../../src/pages/matrix/import/Recognition.js"
import { guessTargets, nameOfPlace, partOf, projectsOf } from "../../src/pages/matrix/import/Targets.js"
import { type Change, nothingStaged, stage } from "../../src/staging/Staged.js"

const envs = (...names: ReadonlyArray<string>) => names.map((name) => EnvName.make(name))
const guess = (names: ReadonlyArray<string>, own: ReadonlyArray<EnvName>, usual: EnvName | null = null) =>
  Object.fromEntries(
    [...guessTargets(names, own, usual)].map(([name, env]) => [name, env === null ? null : String(env)])
  )

describe("where the environments of a document go", () => {
  const own = envs("dev", "staging", "prod", "pr-42")

  it("is guessed by name, then by stage, and never twice", () => {
    assert.deepStrictEqual(guess(["prd", "stg", "development"], own), {
      prd: "prod",
      stg: "staging",
      development: "dev"
    })
    assert.deepStrictEqual(guess(["dev_ada", "dev"], own), { dev_ada: null, dev: "dev" })
    assert.deepStrictEqual(guess(["PROD", "pr-42", "other"], own), { PROD: "prod", "pr-42": "pr-42", other: null })
    assert.deepStrictEqual(guess(["prd"], envs("prod-eu", "prod-us")), { prd: null })
  })

  it("is what the dialog names, for a document of one environment that no name leads to", () => {
    const [dev = EnvName.make("dev")] = own
    assert.deepStrictEqual(guess([""], own, dev), { "": "dev" })
    assert.deepStrictEqual(guess(["stg"], own, dev), { stg: "staging" })
    assert.deepStrictEqual(guess(["one", "two"], own, dev), { one: null, two: null })
  })

  it("leaves other projects out of the plan, and what goes nowhere", () =>
    Effect.gen(function* () {
      const secret = (data: object) => ({ request_id: "r", lease_duration: 0, data })
      const text = JSON.stringify({
        "webshop/prd": secret({ KEY: "1" }),
        "webshop/old": secret({ KEY: "2" }),
        "billing/prd": secret({ KEY: "3" })
      })
      assert.strictEqual(yield* recognise(text), "vault")
      const document = yield* readDocument("vault", "the text", Redacted.make(text))
      assert.deepStrictEqual(projectsOf(document), ["webshop", "billing"])
      const [, , prod = EnvName.make("prod")] = own
      const part = partOf(document, "webshop", new Map([["prd", prod]]))
      assert.deepStrictEqual(part.places.map(nameOfPlace), ["prd"])
      const target = { project: ProjectName.make("shop"), env: prod, projects: new Map(), keys: new Map() }
      const plan = planImport(part, { ...target, envs: new Map([["prd", "prod"]]) })
      assert.deepStrictEqual(
        plan.envs.map(({ env, project, source }) => [String(env), String(project), source]),
        [["prod", "shop", "vault:webshop/prd"]]
      )
    }).pipe(Effect.runPromise))
})

describe("what cannot be stored", () => {
  it("is said without options of the command line", () =>
    Effect.gen(function* () {
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "app" },
        data: { 'A "KEY"': "MQ==", BIN: "/w==" }
      }
      const document = yield* readDocument("kubernetes", "the text", Redacted.make(JSON.stringify(secret)))
      const [dev = EnvName.make("dev")] = envs("dev")
      const target = {
        project: ProjectName.make("shop"),
        env: dev,
        projects: new Map(),
        envs: new Map(),
        keys: new Map()
      }
      const said = planImport(document, target).envs.flatMap(({ keys }) => keys.map(({ why = "" }) => why))
      assert.lengthOf(
        said.filter((why) => why.includes("--")),
        2
      )
      for (const why of said) assert.notMatch(withoutOption(why), /--|[:;,]$/)
    }).pipe(Effect.runPromise))
})

describe("the tool of a document", () => {
  it("is recognised by the document's form, in a list too, and plain keys and values have no tool", () =>
    Effect.gen(function* () {
      const doppler = { DOPPLER_PROJECT: "webshop", DOPPLER_CONFIG: "prd", KEY: "1" }
      assert.strictEqual(yield* recognise(JSON.stringify([doppler, doppler])), "doppler")
      assert.strictEqual(yield* recognise("apiVersion: v1\nkind: Secret\ndata:\n  KEY: MQ==\n"), "kubernetes")
      for (const text of ['{"KEY": "1"}', "{", "", "KEY: 1\n"]) assert.isUndefined(yield* recognise(text), text)
    }).pipe(Effect.runPromise))
})

describe("the note of what is staged", () => {
  it("stays while all changes are of one import", () => {
    const [env = EnvName.make("dev")] = envs("dev")
    const base = { etag: '"e"', revision: 1 }
    const changes: ReadonlyArray<readonly [SecretKey, Change]> = [[SecretKey.make("KEY"), { type: "delete" }]]
    const imported = stage(nothingStaged, env, base, changes, "imported from doppler")
    assert.strictEqual(imported.get(env)?.note, "imported from doppler")
    assert.strictEqual(
      stage(imported, env, base, changes, "imported from doppler").get(env)?.note,
      "imported from doppler"
    )
    assert.isUndefined(stage(imported, env, base, changes).get(env)?.note)
    assert.isUndefined(stage(stage(nothingStaged, env, base, changes), env, base, changes, "imported").get(env)?.note)
  })
})
