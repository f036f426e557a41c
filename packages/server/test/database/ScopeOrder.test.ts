import { OrgId, UserId } from "@coffer/domain/base/Ids"
import {
  addressScope,
  inOrder,
  orgScope,
  rankOf,
  scopeKey,
  serverScope,
  userScope
} from "@coffer/server/database/Scopes"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"

describe("the order of scopes", () => {
  const [low, high] = ["0192f0c1-5b7e-4c3a-9d2e-4f6a8b0c1d01", "f192f0c1-5b7e-4c3a-9d2e-4f6a8b0c1d01"] as const
  /** Scopes of every kind, in the order of their locks: the ids of a kind are sorted, and say nothing of its rank. */
  const ordered = [
    serverScope,
    addressScope("x@example.com"),
    addressScope("y@example.com"),
    userScope(UserId.make(low)),
    userScope(UserId.make(high)),
    orgScope(OrgId.make(low)),
    orgScope(OrgId.make(high))
  ]

  it("any scopes, in any order and repeated, are locked by kind and id, each once", () => {
    const indices = fc.array(fc.nat({ max: ordered.length - 1 }), { maxLength: 20 })
    fc.assert(
      fc.property(indices, (all) => {
        const expected = ordered.filter((_scope, index) => all.includes(index))
        assert.deepStrictEqual(inOrder(all.map((index) => ({ ...ordered[index]! }))), expected)
      })
    )
  })

  it("each kind has a rank from 1, and a scope its own key", () => {
    assert.deepStrictEqual(ordered.map(rankOf), [1, 2, 2, 3, 3, 4, 4])
    assert.deepStrictEqual(
      ordered.map(({ id, kind }) => `${kind} ${id}`),
      [
        "server ",
        "address x@example.com",
        "address y@example.com",
        `user ${low}`,
        `user ${high}`,
        `org ${low}`,
        `org ${high}`
      ]
    )
    assert.deepStrictEqual(
      ordered.map(scopeKey),
      ordered.map(({ id, kind }) => `${kind} ${id}`)
    )
  })
})
