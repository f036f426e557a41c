import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import { placeSummary, requestSummary } from "@coffer/domain/requests/RequestSummary"

const units = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"]
] as const

/** A time as the options take it: in the largest unit that divides it. */
const spanOf = (seconds: number): string => {
  const [size, unit] = units.find(([each]) => seconds % each === 0) ?? [1, "s"]
  return `${seconds / size}${unit}`
}

export const placeOf = ({ env, project }: ApprovalRequest): string => `${project}/${env}`

/** Describes the change that is asked for, and its place. */
export const askedTo = (request: ApprovalRequest): string => `${requestSummary(request)} ${placeOf(request)}`

/** Describes the content of a request, for a table cell. */
export const askedFor = (request: ApprovalRequest, mostKeys = Infinity): string => {
  const { call = "", expires_in, keys = [], permission } = request
  if (permission !== undefined) {
    return expires_in === undefined ? permission : `${permission} for ${spanOf(expires_in)}`
  }
  // A place that is deleted alters its keys too.
  if (keys.length === 0 || placeSummary(call) !== undefined) return askedTo(request)
  const shown = keys.slice(0, mostKeys).map(({ change, key }) => `${key} ${change}`)
  return [...shown, ...(keys.length > shown.length ? [`and ${keys.length - shown.length} more`] : [])].join(", ")
}

const approvals = ({ votes }: ApprovalRequest): number => votes.filter(({ vote }) => vote === "approve").length

/** How many of the needed votes a request has. */
export const votesOf = (request: ApprovalRequest): string => `${approvals(request)} of ${request.needed}`

/** Describes the outcome of a request, in a sentence. */
export const outcomeOf = (request: ApprovalRequest): string => {
  const { id, revision, rule_id, state } = request
  const whose = `request ${id} of ${request.requester} for ${placeOf(request)}`
  if (state === "pending") return `${whose} waits: ${votesOf(request)} approvals`
  if (state !== "done") return `${whose} is ${state}`
  const made = revision === undefined ? "" : `, as revision ${revision}`
  return rule_id === undefined
    ? `${whose} is approved, and the change is made${made}`
    : `${whose} is approved: ${request.requester} has ${askedFor(request)} (rule ${rule_id})`
}
