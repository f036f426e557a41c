import type { ApprovalRequest } from "@coffer/domain/ApprovalRequest"
import type { OrgName } from "@coffer/domain/Names"
import { signal } from "@preact/signals"
import { place } from "../routing/Router.js"

interface Proposed {
  readonly org: OrgName
  readonly requests: ReadonlyArray<ApprovalRequest>
}

/** What the person has asked for and has not looked at yet; null: nothing. */
export const proposed = signal<Proposed | null>(null)

/** Notes a request that was made on a page of its organization. */
export const noteProposed = (request: ApprovalRequest): void => {
  const here = place.peek()
  if (here === null || here.at === "server") return
  const before = proposed.peek()
  proposed.value = {
    org: here.org,
    requests: [...(before?.org === here.org ? before.requests : []), request]
  }
}

export const forgetProposed = (): void => {
  proposed.value = null
}
