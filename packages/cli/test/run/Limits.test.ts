import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { sizeProblem, totalLimit } from "../../src/run/Limits.js"

const problem = (env: Record<string, string>, argv: ReadonlyArray<string> = ["x"], limit = 2 * 1024 * 1024) =>
  Option.getOrElse(sizeProblem(argv, env, limit), () => "")

describe("sizeProblem", () => {
  it("holds each string to 128 KiB, its name and its end included", () => {
    const most = 128 * 1024 - "A=".length - 1
    assert.strictEqual(problem({ A: "x".repeat(most) }), "")
    assert.match(problem({ A: "x".repeat(most + 1), B: "x" }), /^A: no variable can be larger/)
    assert.match(problem({ A: "é".repeat(70_000) }), /^A: /)
    assert.match(problem({}, ["x", "y".repeat(128 * 1024)]), /^argument 1 of the command/)
  })

  it("holds all of them to the limit, and names the largest", () => {
    const env = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`V${at}`, "x".repeat(60_000 + at)]))
    assert.strictEqual(problem(env), "")
    assert.match(problem(env, ["x"], 1024 * 1024), /allows 1024 KiB; the largest variables are V29, V28, V27;/)
  })

  it("knows the system's limit", () => {
    assert.isAtLeast(totalLimit(), 128 * 1024)
    assert.isAtMost(totalLimit(), 6 * 1024 * 1024)
  })
})
