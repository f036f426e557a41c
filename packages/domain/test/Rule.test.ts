import { isRule, rule } from "@coffer/domain/Rule"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, ParseResult, Schema } from "effect"

const sentence = "must be a digit, says a test"
const Digit = Schema.String.pipe(Schema.pattern(/^[0-9]$/, rule(sentence)))

const messageOf = (input: unknown): string =>
  Either.match(ParseResult.decodeUnknownEither(Digit)(input), {
    onLeft: (error) => ParseResult.ArrayFormatter.formatIssueSync(error)[0]?.message ?? "",
    onRight: () => "accepted"
  })

describe("a rule", () => {
  it.prop("answers its own sentence, whatever was given", [FastCheck.string({ minLength: 2 })], ([text]) => {
    assert.strictEqual(messageOf(text), sentence)
  })

  it("is recognised by its sentence", () => {
    assert.isTrue(isRule(sentence))
  })

  it.prop("is not what any other message is", [FastCheck.string()], ([text]) => {
    assert.strictEqual(isRule(text + sentence), text === "")
    assert.isFalse(isRule(`${sentence}, actual "${text}"`))
  })

  it("is not what the toolkit itself says about a value of another type, which may repeat it", () => {
    const Other = Schema.Struct({ digit: Schema.NumberFromString })
    const failed = ParseResult.decodeUnknownEither(Other)({ digit: "hunter2" })
    assert.isTrue(Either.isLeft(failed))
    if (Either.isLeft(failed)) {
      for (const { message } of ParseResult.ArrayFormatter.formatIssueSync(failed.left)) assert.isFalse(isRule(message))
    }
  })
})
