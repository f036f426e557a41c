import { isOwnMessage, withMessage } from "@coffer/domain/base/Message"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, ParseResult, Schema } from "effect"

const message = "must be a digit, says a test"
const Digit = Schema.String.pipe(Schema.pattern(/^[0-9]$/, withMessage(message)))

const messageOf = (input: unknown): string =>
  Either.match(ParseResult.decodeUnknownEither(Digit)(input), {
    onLeft: (error) => ParseResult.ArrayFormatter.formatIssueSync(error)[0]?.message ?? "",
    onRight: () => "accepted"
  })

describe("an own message", () => {
  it.prop("is the whole error, whatever the value", [FastCheck.string({ minLength: 2 })], ([text]) => {
    assert.strictEqual(messageOf(text), message)
  })

  it("is recognized", () => {
    assert.isTrue(isOwnMessage(message))
  })

  it.prop("is not recognized inside another message", [FastCheck.string()], ([text]) => {
    assert.strictEqual(isOwnMessage(text + message), text === "")
    assert.isFalse(isOwnMessage(`${message}, actual "${text}"`))
  })

  it("is not a message of the toolkit, which may repeat the value", () => {
    const Other = Schema.Struct({ digit: Schema.NumberFromString })
    const failed = ParseResult.decodeUnknownEither(Other)({ digit: "hunter2" })
    assert.isTrue(Either.isLeft(failed))
    if (Either.isLeft(failed)) {
      for (const issue of ParseResult.ArrayFormatter.formatIssueSync(failed.left)) {
        assert.isFalse(isOwnMessage(issue.message))
      }
    }
  })
})
