/** Requests with secrets, which people approve one by one, and exports of the organization: they wait for people too. */
import type { OrgPath } from "@coffer/domain/api/Paths"
import type { OrganizationExport } from "@coffer/domain/archive/Export"
import type { ApprovalId, ExportId, RequestId } from "@coffer/domain/base/Ids"
import type { NotFound } from "@coffer/domain/errors/Errors"
import type { Approval } from "@coffer/domain/requests/Approval"
import * as Effect from "effect/Effect"
import { momentCell, momentText } from "../../base/Moments.js"
import { WrongUsage } from "../../base/Failures.js"
import type { Call } from "../../grammar/Command.js"
import { printFields } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, type View } from "../../terminal/View.js"

/** A request that waits, but is none for access or for a change. */
export type OtherRequest =
  | { readonly kind: "use"; readonly approval: Approval }
  | { readonly kind: "export"; readonly asked: OrganizationExport }

interface WithId extends OrgPath {
  readonly id: RequestId
}

/** Reads those that wait. Whoever may not list them has none to decide. */
export const otherRequests = Effect.fnUntraced(function* (call: Call, { org_name }: OrgPath) {
  const path = { org_name }
  const approvals = yield* call("approvals", (api) => api.list({ path })).pipe(
    Effect.map(({ data }) => data),
    Effect.orElseSucceed((): ReadonlyArray<Approval> => [])
  )
  const exports = yield* call("exports", (api) => api.list({ path })).pipe(
    Effect.map(({ data }) => data),
    Effect.orElseSucceed((): ReadonlyArray<OrganizationExport> => [])
  )
  return [
    ...approvals.map((approval): OtherRequest => ({ kind: "use", approval })),
    ...exports.map((asked): OtherRequest => ({ kind: "export", asked }))
  ]
})

export const idOfOther = (other: OtherRequest): string => (other.kind === "use" ? other.approval.id : other.asked.id)

/** The record of the API, with its kind. */
export const recordOfOther = (other: OtherRequest) =>
  other.kind === "use" ? { kind: other.kind, ...other.approval } : { kind: other.kind, ...other.asked }

/** The row of a list. */
export const rowOfOther = (other: OtherRequest) => {
  if (other.kind === "export") {
    const { approved_by, created_by, expires_at, id, state, versions } = other.asked
    const text = `take the organization out${versions ? ", with earlier versions" : ""}`
    const votes = `${approved_by === undefined ? 0 : 1} of ${state === "waiting" || approved_by !== undefined ? 1 : 0}`
    return { id, kind: "export", state, place: "", text, requester: created_by, votes, until: momentCell(expires_at) }
  }
  const { account, env, expires_at, id, method, project, state, url } = other.approval
  const votes = `${state === "pending" ? 0 : 1} of 1`
  const text = `${method} ${url}`
  return {
    id,
    kind: "use",
    state,
    place: `${project}/${env}`,
    text,
    requester: account,
    votes,
    until: momentCell(expires_at)
  }
}

/** Finds the one of an id. Fails with the failure of the list of changes if no other list has it. */
const find = Effect.fnUntraced(function* (call: Call, { id, org_name }: WithId, failure: NotFound) {
  const found = (yield* otherRequests(call, { org_name })).find((other) => idOfOther(other) === id)
  return found ?? (yield* failure)
})

const fieldsOf = (other: OtherRequest) => {
  const { id, kind, place, requester, state, text, until, votes } = rowOfOther(other)
  const more =
    other.kind === "use" ? { secrets: other.approval.secrets.join(" "), body: other.approval.body ?? "" } : {}
  return {
    id,
    kind,
    state,
    ...(place !== "" && { place }),
    requester,
    "asks for": text,
    ...more,
    approvals: votes,
    until
  }
}

export const showOther = (call: Call, path: WithId, failure: NotFound) =>
  Effect.map(find(call, path, failure), (other): View => ({
    json: other.kind === "use" ? other.approval : other.asked,
    text: printFields(fieldsOf(other))
  }))

interface Vote {
  readonly comment: string | undefined
}

const withoutComment = ({ comment }: Vote, kind: string) =>
  comment === undefined
    ? Effect.void
    : new WrongUsage({ message: `a request of the kind ${kind} takes no comment: leave --comment out` })

/** Lets a request with a secret leave, once. */
export const approveUse = (call: Call, path: OrgPath, approval_id: ApprovalId) =>
  Effect.map(
    call("approvals", (api) => api.approve({ path: { ...path, approval_id } })),
    (approval) => doneView(`${approval.account} may now send ${approval.method} ${approval.url}, once`, approval)
  )

export const refuseUse = (call: Call, path: OrgPath, approval_id: ApprovalId) =>
  Effect.map(
    call("approvals", (api) => api.refuse({ path: { ...path, approval_id } })),
    (approval) => doneView(`${approval.method} ${approval.url} of ${approval.account} is refused`, approval)
  )

/** Lets another owner take the organization out. */
export const approveExport = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath,
  export_id: ExportId,
  yes: boolean
) {
  const at = { path: { ...path, export_id } }
  const { created_by } = yield* call("exports", (api) => api.get(at))
  yield* confirm(`Let ${created_by} take all of ${path.org_name} out, with its secrets?`, yes)
  const approved = yield* call("exports", (api) => api.approve(at))
  return doneView(`${created_by} can read export ${approved.id} until ${momentText(approved.expires_at)}`, approved)
})

export const endExport = (call: Call, path: OrgPath, export_id: ExportId) =>
  Effect.as(
    call("exports", (api) => api.end({ path: { ...path, export_id } })),
    doneView(`export ${export_id} has ended`)
  )

export const approveOther = Effect.fnUntraced(function* (
  call: Call,
  path: WithId,
  options: Vote & { readonly yes: boolean },
  failure: NotFound
) {
  const other = yield* find(call, path, failure)
  yield* withoutComment(options, other.kind)
  const org = { org_name: path.org_name }
  return other.kind === "use"
    ? yield* approveUse(call, org, other.approval.id)
    : yield* approveExport(call, org, other.asked.id, options.yes)
})

export const refuseOther = Effect.fnUntraced(function* (call: Call, path: WithId, vote: Vote, failure: NotFound) {
  const other = yield* find(call, path, failure)
  yield* withoutComment(vote, other.kind)
  const org = { org_name: path.org_name }
  return other.kind === "use"
    ? yield* refuseUse(call, org, other.approval.id)
    : yield* endExport(call, org, other.asked.id)
})

/** Ends an export. A request with a secret ends by itself, within minutes. */
export const withdrawOther = Effect.fnUntraced(function* (call: Call, path: WithId, failure: NotFound) {
  const other = yield* find(call, path, failure)
  const org = { org_name: path.org_name }
  if (other.kind === "export") return yield* endExport(call, org, other.asked.id)
  return yield* new WrongUsage({
    message: "a request with a secret is refused, not withdrawn: coffer request refuse ID"
  })
})
