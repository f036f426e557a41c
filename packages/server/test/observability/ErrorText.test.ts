import { NotFound } from "@coffer/domain/errors/Errors"
import { causeText, errorText } from "@coffer/server/base/logging/ErrorText"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Data, FiberId } from "effect"

class Coded extends Error {
  readonly code = "ECODED"
}

class Tagged extends Data.TaggedError("Tagged")<{ readonly value: string }> {
  override get message() {
    return this.value
  }
}

describe("an unexpected error in the log", () => {
  const canary = "canary-7f3a"

  it("is its type, its code and its place, with what caused it, without its words", () => {
    const cause = new Coded(`connect ${canary}`)
    const error = new TypeError(`Invalid value "${canary}"\n    at ${canary}\n${canary}`, { cause })
    const text = errorText(error)
    assert.match(text, /^TypeError\n {4}at \S.*ErrorText\.test\.ts:\d+:\d+/)
    assert.match(text, /\n {2}caused by Coded \(ECODED\)\n {4}at /)
    assert.notInclude(text, canary)
  })

  it("is no more than its tag or its kind where it is no Error", () => {
    assert.match(errorText(new Tagged({ value: canary })), /^Tagged\n {4}at /)
    assert.strictEqual(errorText({ _tag: "Odd", value: canary }), "Odd")
    assert.strictEqual(errorText({ _tag: `a ${canary}` }), "object")
    assert.strictEqual(errorText(canary), "string")
    assert.strictEqual(errorText(null), "object")
  })

  it("has its words where they are this program's own", () => {
    assert.match(errorText(new NotFound({ message: "secret A does not exist" })), /^NotFound: secret A does not exist/)
  })

  it("is written so whatever else a cause holds", () => {
    const cause = Cause.parallel(Cause.fail(new Tagged({ value: canary })), Cause.die(canary))
    assert.match(causeText(cause), /^Tagged\n[^]*\nstring$/)
    assert.strictEqual(causeText(Cause.empty), "")
    assert.strictEqual(causeText(Cause.interrupt(FiberId.none)), "interrupted")
  })
})
