import { completedBy, flag } from "../../grammar/Specs.js"
import { idOf, shortIds } from "../../grammar/IdKinds.js"
import type { OrgPath } from "@coffer/domain/api/Paths"
import {
  type ApprovalRequest,
  type RequestKind,
  requestKinds,
  type RequestPage,
  type RequestState,
  VoteComment
} from "@coffer/domain/requests/ApprovalRequest"
import { defined } from "@coffer/domain/base/Defined"
import { RequestId } from "@coffer/domain/base/Ids"
import { maxPageSize, VersionParameter } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CannotDo } from "../../base/Failures.js"
import { atOrg, type Call, group, wide } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { Output } from "../../terminal/Output.js"
import { note, printFields, show as showText } from "../../terminal/Print.js"
import { renderFields } from "../../terminal/Table.js"
import { canAsk, confirm } from "../../terminal/Prompts.js"
import { doneView, listView, type View } from "../../terminal/View.js"
import { askedFor, outcomeOf, placeOf, votesOf } from "./RequestText.js"
import { approversOf, fieldsOf, nextOf, printKeys, readValues } from "./RequestView.js"

/** At most this many keys of a change are named in a list. */
const maxKeys = 3

export const columns = {
  id: ({ id }: ApprovalRequest) => id,
  kind: ({ kind }: ApprovalRequest) => kind,
  state: ({ state }: ApprovalRequest) => state,
  place: placeOf,
  "asks for": (request: ApprovalRequest) => askedFor(request, maxKeys),
  requester: ({ requester }: ApprovalRequest) => requester,
  reason: ({ reason }: ApprovalRequest) => reason,
  approvals: votesOf,
  until: ({ expires_at }: ApprovalRequest) => expires_at
}

interface Query {
  readonly state?: RequestState
  readonly kind?: RequestKind
}

/** Reads requests, newest first. */
export const readRequests = Effect.fnUntraced(function* (call: Call, path: OrgPath, query: Query, most: number) {
  const data: Array<ApprovalRequest> = []
  let after: RequestPage["pagination"]["next_cursor"] | undefined
  do {
    const urlParams = {
      ...query,
      limit: Math.min(maxPageSize, most - data.length),
      ...(typeof after === "string" && { after: RequestId.make(after) })
    }
    const page: RequestPage = yield* call("requests", (api) => api.list({ path, urlParams }))
    data.push(...page.data)
    after = page.pagination.next_cursor
  } while (after !== null && data.length < most)
  return { data, isWhole: after === null }
})

const list = atOrg("list", {
  description: "List the requests for access and for changes that wait for votes, newest first",
  examples: ["coffer request list", "coffer request list --all --kind access", "coffer request list --json"],
  options: {
    all: flag("all", "Also those that have ended"),
    kind: option("kind", Schema.Literal(...requestKinds), "Only requests for access, or for changes"),
    limit: option("limit", VersionParameter, "How many requests to show; 100 when left out"),
    wide
  },
  run: ({ call, options: { all, kind, limit = 100 }, path }) =>
    Effect.gen(function* () {
      const query = { ...defined({ kind }), ...(!all && { state: "pending" as const }) }
      const { data, isWhole } = yield* readRequests(call, path, query, limit)
      const { width } = yield* Output
      const short = shortIds(data.map(({ id }) => id))
      // At a terminal, so that the words fit: each command takes the beginning of an id.
      const shown = width("output") === undefined ? columns : { ...columns, id: ({ id }: ApprovalRequest) => short(id) }
      const view = listView({ data }, shown, "no request waits", ["id", "asks for", "requester", "reason", "place"])
      const more = isWhole ? Effect.void : note(`there are more requests: --limit shows more than ${limit}`)
      return { ...view, text: Effect.zipLeft(view.text, more) }
    })
})

const id = completedBy("request", argument("ID", idOf(RequestId), "The request's id, as coffer request list shows it"))

const show = atOrg("show", {
  description: "Show a request: what it changes, without values, and who has voted",
  examples: [
    "coffer request show 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8",
    "coffer request show 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8 --reveal"
  ],
  options: {
    id,
    reveal: flag("reveal", "Show the values that it sets too; needs the right to read them, and is recorded")
  },
  run: ({ call, options: { id, reveal }, path }) =>
    Effect.gen(function* () {
      const request = yield* call("requests", (api) => api.get({ path: { ...path, request_id: id } }))
      const approvers = yield* approversOf(call, path, request)
      const values = reveal ? yield* readValues(call, path, request) : undefined
      const text = printFields(fieldsOf(request, approvers)).pipe(
        Effect.zipRight(printKeys(request)),
        Effect.zipRight(values?.text ?? Effect.void),
        Effect.zipRight(nextOf(request))
      )
      const view: View = { json: { ...request, ...defined({ values: values?.json }) }, text }
      return view
    })
})

/** Shows what a person is about to approve, and asks. */
const look = Effect.fnUntraced(function* (call: Call, path: OrgPath & { readonly request_id: RequestId }) {
  if (yield* canAsk) {
    const request = yield* call("requests", (api) => api.get({ path }))
    const { keys = [] } = request
    const shown = { ...fieldsOf(request, undefined), ...(keys.length > 0 && { changes: askedFor(request) }) }
    yield* showText(renderFields(shown, { isTerminal: true, width: undefined }))
  }
  yield* confirm(`Approve request ${path.request_id}?`, false)
})

/** A vote that comes too late says what the person who asked can do. */
const explainOutdated = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath & { readonly request_id: RequestId },
  message: string
) {
  const { requester, state } = yield* call("requests", (api) => api.get({ path }))
  return yield* new CannotDo({
    message:
      state === "outdated" ? `${message}; ${requester} can run the change again, which makes a new request` : message
  })
})

const comment = option("comment", VoteComment, "Why, for everybody who sees the request")

const approve = atOrg("approve", {
  description: "Approve a request; the last vote that is needed makes the change, or gives the access",
  examples: ["coffer request approve 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8"],
  options: { id, comment, yes: flag("yes", "Do not ask: the request is approved as it is") },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const at = { ...path, request_id: options.id }
      if (!options.yes) yield* look(call, at)
      const payload = defined({ comment: options.comment })
      const request = yield* call("requests", (api) => api.approve({ path: at, payload })).pipe(
        Effect.catchTag("Conflict", ({ message }) => explainOutdated(call, at, message))
      )
      return doneView(outcomeOf(request), request)
    })
})

const refuse = atOrg("refuse", {
  description: "Refuse a request, which ends it",
  examples: [
    "coffer request refuse 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8",
    'coffer request refuse 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8 --comment "not before the release"'
  ],
  options: { id, comment },
  run: ({ call, options: { comment, id }, path }) =>
    Effect.map(
      call("requests", (api) => api.refuse({ path: { ...path, request_id: id }, payload: defined({ comment }) })),
      (request) => doneView(outcomeOf(request), request)
    )
})

const withdraw = atOrg("withdraw", {
  description: "Withdraw a request of your own",
  examples: ["coffer request withdraw 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8"],
  options: { id },
  run: ({ call, options, path }) =>
    Effect.map(
      call("requests", (api) => api.withdraw({ path: { ...path, request_id: options.id } })),
      (request) => doneView(outcomeOf(request), request)
    )
})

export const requestCommand = group("request", "Requests for access and for changes, which people vote on", [
  list,
  show,
  approve,
  refuse,
  withdraw
])
