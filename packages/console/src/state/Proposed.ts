import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import type { OrgName } from "@coffer/domain/base/Names"
import { signal } from "@preact/signals"

interface Proposed {
  readonly org: OrgName
  readonly requests: ReadonlyArray<ApprovalRequest>
}

/** The requests that the person has made and has not looked at yet; null: none. */
export const proposed = signal<Proposed | null>(null)

/** Notes a request that was made in an organization, whichever page is open by then. */
export const noteProposed = (org: OrgName, request: ApprovalRequest): void => {
  const before = proposed.peek()
  proposed.value = { org, requests: [...(before?.org === org ? before.requests : []), request] }
}

export const forgetProposed = (): void => {
  proposed.value = null
}
