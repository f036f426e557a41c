import { Email } from "@coffer/domain/base/Names"
import { couldPass, isApprover } from "@coffer/server/access/gate/Voting"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const email = Schema.decodeSync(Email)
const [ada, bob, eve] = [email("ada@example.com"), email("bob@example.com"), email("eve@example.com")]

describe("the voters of a protection", () => {
  it("are the owners, the admins with them, or the members that it names", () => {
    for (const [approvers, expected] of [
      ["owners", ["owner"]],
      ["admins", ["owner", "admin"]],
      [[ada], ["owner", "admin", "developer", "member"]],
      [[bob], []]
    ] as const) {
      const voting = (["owner", "admin", "developer", "member", null] as const).filter((role) =>
        isApprover(approvers, role, ada)
      )
      assert.deepStrictEqual<ReadonlyArray<unknown>>(voting, expected, String(approvers))
    }
  })

  it("are enough for a request by their number, without its requester unless the protection lets people vote themselves", () => {
    const members = [
      { email: ada, role: "owner" },
      { email: bob, role: "admin" },
      { email: eve, role: "member" }
    ] as const
    for (const [needed, self, requester, expected] of [
      [1, false, null, true],
      [2, false, null, true],
      [3, false, null, false],
      [2, false, ada, false],
      [1, false, ada, true],
      [2, true, ada, true],
      [2, false, eve, true],
      [3, true, eve, false]
    ] as const) {
      const found = couldPass({ approvers: "admins", needed, self }, members, requester)
      assert.strictEqual(found, expected, `${needed} ${self} ${requester}`)
    }
  })
})
