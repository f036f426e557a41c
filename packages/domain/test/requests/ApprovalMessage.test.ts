import { approvalMessage, approvalPage, readApproval } from "@coffer/domain/requests/ApprovalMessage"
import { ApprovalId } from "@coffer/domain/base/Ids"
import { OrgName } from "@coffer/domain/base/Names"
import { assert, it } from "vitest"

const id = ApprovalId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0")

it("the message of APPROVAL_NEEDED says which approval, and where", () => {
  const page = approvalPage("https://coffer.example.com", OrgName.make("acme"), id)
  assert.strictEqual(page, `https://coffer.example.com/-/org/acme/-/approvals?id=${id}`)
  assert.deepStrictEqual(readApproval(approvalMessage(id, page)), { id, page })
  assert.deepStrictEqual(readApproval(approvalMessage(id, null)), { id, page: null })
  for (const other of ["", "approved", `: coffer approval approve not-an-id; then`]) assert.isNull(readApproval(other))
})
