import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const { ok, prints } = workplace()

describe("secret versions --compare", () => {
  it("says of each version whether its value is as the one before, and how long at most, without values", async () => {
    for (const value of ["hunter2", "hunter2!", "hunter2"]) await ok("secret", "set", "API_KEY", value)
    await ok("secret", "rollback", "API_KEY", "--to", "3")
    const lines = (await prints("secret", "versions", "API_KEY", "--compare")).trim().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => line.split("\t").toSpliced(1, 1)),
      [
        ["4", "ada@example.com", "current", "up to 8 bytes", "same as 3"],
        ["3", "ada@example.com", "-", "up to 8 bytes", "differs from 2"],
        ["2", "ada@example.com", "-", "up to 8 bytes", "differs from 1"],
        ["1", "ada@example.com", "-", "up to 8 bytes", "-"]
      ]
    )
    assert.notInclude(await prints("secret", "versions", "API_KEY", "--compare", "--json"), "hunter")
    const { data } = JSON.parse(await prints("secret", "versions", "API_KEY", "--json"))
    assert.notProperty(data[0], "same")
    assert.strictEqual(await prints("secret", "get", "API_KEY", "--at", "2"), "hunter2!")
  })
})
