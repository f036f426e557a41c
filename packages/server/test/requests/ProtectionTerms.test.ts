import { Email } from "@coffer/domain/base/Names"
import type { StoredProtection } from "@coffer/server/access/gate/Protections"
import { isStricter, type ProtectionRequest, termsOf } from "@coffer/server/directory/requests/ProtectionTerms"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"

const email = Schema.decodeSync(Email)
const [ada, bob, eve] = [email("ada@example.com"), email("bob@example.com"), email("eve@example.com")]

describe("the terms of a protection", () => {
  it("have defaults, and each list in order and without repetitions", () => {
    assert.deepStrictEqual(termsOf({ needed: 1, approvers: "admins" }), {
      ...{ needed: 1, approvers: "admins", self: false, break_glass: [], expires_after: "72h", passkey: false }
    })
    const whole = {
      needed: 2,
      approvers: "owners",
      self: true,
      break_glass: [ada],
      expires_after: "1h",
      passkey: true
    } as const
    assert.deepStrictEqual(termsOf(whole), whole)
    const lists = termsOf({ needed: 1, approvers: [eve, ada, eve], break_glass: [bob, ada, bob] })
    assert.deepStrictEqual(
      [lists.approvers, lists.break_glass],
      [
        [ada, eve],
        [ada, bob]
      ]
    )
  })

  it("are stricter, or the same, if they let nothing through that needed votes before", () => {
    const now: StoredProtection = {
      ...{
        needed: 2,
        approvers: [ada, bob],
        self: false,
        break_glass: [ada, bob],
        expires_after: "72h",
        passkey: false
      },
      ...{ version: 1, updated_by: ada, updated_at: "1970-01-01T00:00:00.000Z", etag: "" }
    }
    const same: ProtectionRequest = { needed: 2, approvers: [bob, ada], break_glass: [bob, ada], expires_after: "3d" }
    for (const [what, before, changes, expected] of [
      ["the same", {}, {}, true],
      ["more votes", {}, { needed: 3 }, true],
      ["fewer votes", {}, { needed: 1 }, false],
      ["more voters", {}, { approvers: [ada, bob, eve] }, false],
      ["fewer voters, of whom each decides more", {}, { approvers: [ada] }, false],
      ["voters by role", {}, { approvers: "owners" }, false],
      ["one's own vote counts", {}, { self: true }, false],
      ["one's own vote counts as before", { self: true }, { self: true }, true],
      ["one's own vote counts no more", { self: true }, {}, true],
      ["a passkey", {}, { passkey: true }, true],
      ["a passkey as before", { passkey: true }, { passkey: true }, true],
      ["no passkey any more", { passkey: true }, {}, false],
      ["fewer who break the glass", {}, { break_glass: [ada] }, true],
      ["nobody who breaks the glass", {}, { break_glass: [] }, true],
      ["others who break the glass", {}, { break_glass: [ada, eve] }, false],
      ["requests wait for less time", {}, { expires_after: "71h" }, true],
      ["requests wait for longer", {}, { expires_after: "73h" }, false]
    ] as const) {
      assert.strictEqual(isStricter({ ...now, ...before }, termsOf({ ...same, ...changes })), expected, what)
    }
  })
})
