import { assert, describe, it } from "vitest"
import { sentence } from "../../src/kit/Problem.js"

describe("a message as a sentence", () => {
  it("begins with a capital only where it begins with a word of the console's own", () => {
    for (const [message, expected] of [
      ["secret KEY does not exist", "Secret KEY does not exist."],
      ["too many requests: wait a minute", "Too many requests: wait a minute."],
      ["bob@example.com is a member already", "bob@example.com is a member already."],
      ["deploy is revoked", "deploy is revoked."],
      ["localhost: the connection failed", "localhost: the connection failed."],
      ["dropped.env, line 3: KEY contains ${A}", "dropped.env, line 3: KEY contains ${A}."]
    ] as const) {
      assert.strictEqual(sentence(message), expected)
    }
  })
})
