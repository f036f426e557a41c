import { momentCell } from "../../base/Moments.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import { shortIds } from "../../terminal/ShortForm.js"
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
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { CannotDo } from "../../base/Failures.js"
import { atOrg, type Call, group, wide } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { Output } from "../../terminal/Output.js"
import { note, printFields, show as showText } from "../../terminal/Print.js"
import { renderFields } from "../../terminal/Table.js"
import { canAsk, confirm } from "../../terminal/Prompts.js"
import { doneView, listView, type View } from "../../terminal/View.js"
import {
  approveOther,
  otherRequests,
  recordOfOther,
  refuseOther,
  rowOfOther,
  showOther,
  withdrawOther
} from "./OtherRequests.js"
import { askedFor, outcomeOf, placeOf, votesOf } from "./RequestText.js"
import { approversOf, fieldsOf, nextOf, printKeys, readValues } from "./RequestView.js"

/** At most this many keys of a change are named in a list. */
const maxKeys = 3

const rowOf = (request: ApprovalRequest) => {
  const { expires_at: until, id, kind, reason, requester, state } = request
  const text = askedFor(request, maxKeys)
  return {
    id,
    kind,
    state,
    place: placeOf(request),
    text,
    requester,
    reason,
    votes: votesOf(request),
    until: momentCell(until)
  }
}

type Row = Omit<ReturnType<typeof rowOf>, "id" | "kind" | "state" | "reason"> & {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly reason?: string | undefined
}

const columns = {
  id: ({ id }: Row) => id,
  kind: ({ kind }: Row) => kind,
  state: ({ state }: Row) => state,
  place: ({ place }: Row) => place,
  "asks for": ({ text }: Row) => text,
  requester: ({ requester }: Row) => requester,
  reason: ({ reason }: Row) => reason,
  approvals: ({ votes }: Row) => votes,
  until: ({ until }: Row) => until
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

/** The kinds of requests: those of the API's list, and those that have lists of their own. */
const kinds = [...requestKinds, "use", "export"] as const

const isVoted = (kind: (typeof kinds)[number] | undefined): kind is RequestKind | undefined =>
  kind !== "use" && kind !== "export"

const list = atOrg("list", {
  description:
    "List what waits for people, newest first: access, changes, requests with secrets (use) and exports; each row's id is for request show, approve, refuse and withdraw",
  examples: ["coffer request list", "coffer request list --all --kind access", "coffer request list --json"],
  options: {
    all: flag("all", "Also those that have ended"),
    kind: option("kind", Schema.Literal(...kinds), "Only requests of this kind"),
    limit: option("limit", VersionParameter, "How many requests to show; 100 when left out"),
    wide
  },
  run: ({ call, options: { all, kind, limit = 100 }, path }) =>
    Effect.gen(function* () {
      const none: { readonly data: ReadonlyArray<ApprovalRequest>; readonly isWhole: boolean } = {
        data: [],
        isWhole: true
      }
      const { data, isWhole } = isVoted(kind)
        ? yield* readRequests(call, path, { ...defined({ kind }), ...(!all && { state: "pending" as const }) }, limit)
        : none
      const others =
        kind === "access" || kind === "change"
          ? []
          : (yield* otherRequests(call, path)).filter((other) => kind === undefined || other.kind === kind)
      const rows: ReadonlyArray<Row> = [...data.map(rowOf), ...others.map(rowOfOther)]
      const { width } = yield* Output
      const short = shortIds(rows.map(({ id }) => id))
      const isTerminal = width("output") !== undefined
      // At a terminal, so that the words fit: each command takes the beginning of an id.
      const shown = isTerminal ? { ...columns, id: ({ id }: Row) => short(id) } : columns
      const { text } = listView({ data: rows }, shown, "no request waits", [
        "id",
        "asks for",
        "requester",
        "reason",
        "place"
      ])
      const more = isWhole ? Effect.void : note(`there are more requests: --limit shows more than ${limit}`)
      const next = isTerminal && rows.length > 0 ? note("look at one with: coffer request show ID") : Effect.void
      const json = { data, ...(others.length > 0 && { others: others.map(recordOfOther) }) }
      return { json, text: text.pipe(Effect.zipLeft(more), Effect.zipLeft(next)) }
    })
})

const id = completedBy("waiting", argument("ID", idOf(RequestId), "The request's id, as coffer request list shows it"))

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
      const found = yield* Effect.either(call("requests", (api) => api.get({ path: { ...path, request_id: id } })))
      if (Either.isLeft(found)) {
        return found.left._tag === "NotFound" ? yield* showOther(call, { ...path, id }, found.left) : yield* found.left
      }
      const request = found.right
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
  const request = yield* call("requests", (api) => api.get({ path }))
  if (yield* canAsk) {
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
  description:
    "Approve a request; the last vote that is needed makes the change, gives the access, or lets the request or export leave",
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
    }).pipe(Effect.catchTag("NotFound", (failure) => approveOther(call, { ...path, id: options.id }, options, failure)))
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
    ).pipe(Effect.catchTag("NotFound", (failure) => refuseOther(call, { ...path, id }, { comment }, failure)))
})

const withdraw = atOrg("withdraw", {
  description: "Withdraw a request of your own",
  examples: ["coffer request withdraw 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1de8"],
  options: { id },
  run: ({ call, options, path }) =>
    Effect.map(
      call("requests", (api) => api.withdraw({ path: { ...path, request_id: options.id } })),
      (request) => doneView(outcomeOf(request), request)
    ).pipe(Effect.catchTag("NotFound", (failure) => withdrawOther(call, { ...path, id: options.id }, failure)))
})

export const requestCommand = group("request", "Everything that waits for people: access, changes, uses and exports", [
  list,
  show,
  approve,
  refuse,
  withdraw
])
