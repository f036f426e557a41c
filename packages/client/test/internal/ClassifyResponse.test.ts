import { isOverloaded, mayRetry, Refused } from "@coffer/client/internal/ClassifyResponse"
import { errors } from "@coffer/domain/errors/Errors"
import { assert, describe, it } from "@effect/vitest"

describe("the errors of the service", () => {
  it("are retried exactly if they have no effect", () => {
    for (const error of errors) {
      const { code, handling, status } = error
      const response = { status, headers: {}, body: new Uint8Array() }
      assert.strictEqual(isOverloaded(new error({ message: "" })), handling.retry === "all", code)
      assert.strictEqual(mayRetry(new Refused({ code, message: "", response })), handling.retry === "all", code)
    }
  })
})
