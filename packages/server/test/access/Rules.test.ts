import { Pattern } from "@coffer/domain/base/Pattern"
import { KeyPattern } from "@coffer/domain/secrets/KeyPatterns"
import { grantsIn } from "@coffer/server/access/place/PlaceRow"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

describe("the rules of an actor, which the database makes one text of", () => {
  it("have patterns without a space", () => {
    const isPattern = Schema.is(Schema.typeSchema(Schema.Union(Pattern, KeyPattern)))
    const accepted = Array.from({ length: 0x1_00_00 }, (_, code) => `a${String.fromCharCode(code)}`).filter(isPattern)
    assert.isAbove(accepted.length, 30)
    for (const pattern of accepted) assert.notMatch(pattern, /\s/)
  })

  it("are for all keys or some, and give or deny", () => {
    const rule = { id: "id", project_pattern: "web", env_pattern: "prod", permission: "read" } as const
    assert.deepStrictEqual(grantsIn("id web prod read ** 0 id web prod read DB_* 1"), [
      { ...rule, key_pattern: "**", denies: false },
      { ...rule, key_pattern: "DB_*", denies: true }
    ])
    assert.deepStrictEqual(grantsIn(""), [])
  })

  it("grant nothing if they are not as this program writes them", () => {
    for (const bad of ["read", "id web prod read", "id web prod read ** 0 more", "id * * all ** 0", "[]"]) {
      assert.deepStrictEqual(grantsIn(bad), [], bad)
    }
  })
})
