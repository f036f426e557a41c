import * as Schema from "effect/Schema"
import { ApprovalId, type RequestId } from "../base/Ids.js"
import type { OrgName } from "../base/Names.js"

/** The page of the web console where a person decides. */
export const approvalPage = (base: string, org: OrgName, id: ApprovalId | RequestId): string =>
  `${base}/-/org/${org}/-/approvals?id=${id}`

/** The message of APPROVAL_NEEDED, which the tool server reads again. */
export const approvalMessage = (id: ApprovalId, page: string | null): string =>
  `a person with admin has to approve this request within 5 minutes${page === null ? "" : ` at ${page}`}: ` +
  `coffer request approve ${id}; then send the same request again`

export interface ReadApproval {
  readonly id: ApprovalId
  /** Null if the server does not know its own address, or has no console. */
  readonly page: string | null
}

const isId = Schema.is(ApprovalId)

/** Reads the message of APPROVAL_NEEDED, also that of a server of 0.3.0 or earlier. Returns null for another message. */
export const readApproval = (message: string): ReadApproval | null => {
  const [, page = null, id] =
    /(?: at (https?:\/\/[^\s"]+))?: coffer (?:request|approval) approve (\S+?);/.exec(message) ?? []
  return isId(id) ? { id, page } : null
}
