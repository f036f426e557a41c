import { compilePattern, makeMatching } from "@coffer/server/secrets/declared/Patterns"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"

const matches = (pattern: string, value: string): boolean => Either.getOrThrow(compilePattern(pattern))(value)
const complaint = (pattern: string): string =>
  Either.match(compilePattern(pattern), { onLeft: ({ message }) => message, onRight: () => "accepted" })

describe("a pattern", () => {
  it("is for the whole value", () => {
    assert.isTrue(matches("[0-9]+", "8080"))
    assert.isFalse(matches("[0-9]+", "8080 "))
    assert.isFalse(matches("[0-9]+", "port 8080"))
    assert.isTrue(matches("dev|prod", "prod"))
    assert.isFalse(matches("dev|prod", "production"))
    assert.isFalse(matches("[0-9]+", "8080\n"))
    assert.isTrue(matches("-----BEGIN [A-Z ]+-----(?s:.+)", "-----BEGIN RSA KEY-----\nabc\n"))
  })

  it.each([
    ["ab(c", "pattern: is no RE2 regular expression: missing closing )"],
    ["ab[z-a]", "pattern: is no RE2 regular expression: invalid character class range, at character 4"],
    ["a(?=b)", "pattern: is no RE2 regular expression: invalid or unsupported Perl syntax, at character 2"],
    ["(a)\\1", "pattern: is no RE2 regular expression: invalid escape sequence, at character 4"],
    ["a{2001}", "pattern: is no RE2 regular expression: invalid repeat count, at character 2"],
    ["(?:a{30}){20}", "pattern: is too large once its repetitions are written out: shorten them"],
    ["x".repeat(256), "accepted"]
  ])("the answer to %s names its mistake, if it has one, and the place where known", (pattern, expected) => {
    assert.strictEqual(complaint(pattern), expected)
  })

  it("matches no long value when it is large, as that would hold the server up", () => {
    assert.isTrue(matches("(?s:.{250}).*", "a".repeat(5_000)))
    assert.isFalse(matches("(?s:.{250}).*", "a".repeat(65_536)))
    assert.isTrue(matches("(?s:.*)", "a".repeat(65_536)))
  })

  // An engine that backtracks takes longer than the universe is old for each of these.
  it.each(["(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)b", "([a-z]+)*[0-9]", "(?:a?){100}a{100}b"])(
    "takes linear time: %s",
    (pattern) => {
      const started = performance.now()
      assert.isFalse(matches(pattern, "a".repeat(65_536)))
      assert.isBelow(performance.now() - started, 2_000)
    }
  )

  it.effect("is matched for a limited time in one request", () =>
    Effect.gen(function* () {
      const matches = makeMatching(1e-6)
      assert.isTrue(yield* matches("[0-9]+", "8080"))
      const { _tag, message } = yield* Effect.flip(matches("[0-9]+", "8080"))
      assert.strictEqual(_tag, "LimitExceeded")
      assert.notInclude(message, "8080")
    })
  )
})
