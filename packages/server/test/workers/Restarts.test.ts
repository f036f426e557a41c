import { makeRestarts } from "@coffer/server/operations/workers/Restarts"
import { assert, describe, it } from "vitest"

describe("a worker that ends", () => {
  it("is replaced at once, and later each time that its successor ends within a minute", () => {
    const delayOf = makeRestarts()
    const delays = [3_600_000, 10, 0, 59_999, 0, 0, 0, 0].map(delayOf)
    assert.deepStrictEqual(delays, [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    assert.strictEqual(delayOf(60_000), 0)
    assert.strictEqual(delayOf(5), 1_000)
  })
})
