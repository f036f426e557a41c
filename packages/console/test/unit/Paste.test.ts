import { it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { assert, describe } from "vitest"
import { EnvName } from "@coffer/domain/base/Names"
import { envOfFile, guessFormat, readPasted } from "../../src/pages/matrix/Paste.js"

describe("a pasted text", () => {
  it("is taken for what it looks like, unless a file's name says it", () => {
    assert.strictEqual(guessFormat('{"A": "1"}', ""), "json")
    assert.strictEqual(guessFormat("A=1\nB: 2", ""), "env")
    assert.strictEqual(guessFormat("# a comment with: a colon\nA=1", ""), "env")
    assert.strictEqual(guessFormat("A: one\nB: two\n", ""), "yaml")
    assert.strictEqual(guessFormat("A=1", "secrets.yml"), "yaml")
    assert.strictEqual(guessFormat("{}", ".env.local"), "env")
  })

  it("is for the environment that the name of its file has, if it has one alone", () => {
    const envs = ["dev", "pre-prod", "prod"].map((name) => EnvName.make(name))
    const found = (file: string) => envOfFile(file, envs)
    assert.strictEqual(found(".env.prod"), "prod")
    assert.strictEqual(found("webshop-dev.yaml"), "dev")
    assert.strictEqual(found("Shop.PRE-PROD.env"), "pre-prod")
    for (const file of ["", ".env", "products.env", "devices.json", "dev-to-prod.env"]) assert.isUndefined(found(file))
  })

  it.effect("is read as the command line reads it", () =>
    Effect.gen(function* () {
      const { mistakes, secrets } = yield* readPasted("env", "the text", "A=1\nB='two words'\n")
      assert.deepStrictEqual(mistakes, [])
      assert.deepStrictEqual(
        [...secrets].map(([key, value]) => [String(key), String(Redacted.value(value))]),
        [
          ["A", "1"],
          ["B", "two words"]
        ]
      )
    })
  )

  it.effect("is refused with each wrong line, and without its values", () =>
    Effect.gen(function* () {
      const { mistakes, secrets } = yield* readPasted("env", "the text", "A=canary-1\nA=canary-2\n1X=canary-3\n")
      assert.strictEqual(secrets.size, 0)
      assert.deepStrictEqual(
        mistakes.map(({ line }) => line),
        [2, 3]
      )
      assert.notInclude(JSON.stringify(mistakes), "canary")
    })
  )
})
