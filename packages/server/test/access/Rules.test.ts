import { Pattern } from "@coffer/domain/base/Pattern"
import { grantsIn } from "@coffer/server/access/place/PlaceRow"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("the rules of an actor, which the database makes JSON of", () => {
  it("have patterns without any character that JSON escapes", () => {
    const isPattern = Schema.is(Schema.typeSchema(Pattern))
    const accepted = Array.from({ length: 0x1_00_00 }, (_, code) => `a${String.fromCharCode(code)}`).filter(isPattern)
    assert.isAbove(accepted.length, 30)
    for (const pattern of accepted) assert.strictEqual(JSON.stringify(pattern), `"${pattern}"`)
  })

  it("grant nothing if they are not as this program writes them", () => {
    const good = ["id", "web", "prod", "read"]
    const bad = [
      null,
      "read",
      [],
      good.slice(0, 3),
      [...good, "more"],
      ["id", "web", 1, "read"],
      ["id", "*", "*", "all"]
    ]
    assert.deepStrictEqual(grantsIn(JSON.stringify([...bad, good])), [
      { id: "id", project_pattern: "web", env_pattern: "prod", permission: "read" }
    ])
    assert.deepStrictEqual(grantsIn("{}"), [])
  })
})
