import { Either, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { brokenRules, sentenceOf } from "../../src/errors/BrokenRules.js"
import { SecretKey } from "../../src/base/Names.js"
import { RedactedSecretValue, SecretValue } from "../../src/secrets/SecretValues.js"
import { UseTerms } from "../../src/secrets/UseRule.js"

const errorOf = <A, I>(schema: Schema.Schema<A, I>, input: unknown) =>
  Either.getOrElse(Either.flip(Schema.decodeUnknownEither(schema)(input)), () => assert.fail("the input is valid"))

const secret = "hunter2".repeat(10_000)

describe("the sentence of a decoding failure", () => {
  it.each([
    ["a value", errorOf(SecretValue, secret)],
    ["a redacted value", errorOf(RedactedSecretValue, secret)]
  ])("is the contract's own for %s over the size limit", (_, error) => {
    assert.match(sentenceOf(error, "other"), /^a secret value is a string of at most 64 KB/)
  })

  it("is the given one if the toolkit's own would repeat the input", () => {
    assert.strictEqual(sentenceOf(errorOf(Schema.Literal("a", "b"), secret), "takes a or b"), "takes a or b")
    assert.match(sentenceOf(errorOf(SecretKey, "1 2"), "other"), /^a secret key /)
  })

  it("comes with the place of the rule", () => {
    const [rule] = brokenRules(errorOf(UseTerms, { hosts: ["api.example.com", "http://x"] }))
    assert.deepStrictEqual([rule?.type, rule?.path.join(".")], ["Refinement", "hosts.1"])
    assert.match(rule?.sentence ?? "", /^must be host names/)
  })
})
