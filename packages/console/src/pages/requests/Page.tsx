import { type RequestState, requestStates } from "@coffer/domain/requests/ApprovalRequest"
import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import type { Approval } from "@coffer/domain/requests/Approval"
import { defined } from "@coffer/domain/base/Defined"
import { RequestId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { Choose } from "../../kit/Choose.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { usePoll } from "../../kit/Poll.js"
import { Reading } from "../../kit/Reading.js"
import { query, setQuery } from "../../routing/Router.js"
import { forgetProposed } from "../../state/Proposed.js"
import { hasUses } from "../../state/Server.js"
import { noteUses, noteVotes } from "../../client/Waiting.js"
import type { PageProps } from "../PageProps.js"
import { useSettledOrder } from "./SettledOrder.js"
import { Request } from "./Request.js"
import { Use } from "./Use.js"
import "./Page.css"

/** How often the list is read: a use that waits ends after 5 minutes. */
const pollMillis = () => (hasUses() ? 3_000 : 15_000)

const [, ...endStates] = requestStates
const filters = ["waiting", "all", ...endStates] as const
type Filter = (typeof filters)[number]

const isRequestId = Schema.is(Schema.typeSchema(RequestId))

/** How many requests are shown at first. */
const firstCount = 20

interface Listed {
  readonly data: ReadonlyArray<ApprovalRequest>
  readonly hasMore: boolean
}

/** The newest requests. All that are shown are read each time: they move from one page of the list to another. */
const readRequests = Effect.fnUntraced(function* (org: OrgName, filter: Filter, count: number) {
  const state: RequestState | undefined = filter === "all" ? undefined : filter === "waiting" ? "pending" : filter
  const data: Array<ApprovalRequest> = []
  let after: RequestId | undefined
  do {
    const urlParams = { ...defined({ state, after }), limit: Math.min(maxPageSize, count - data.length) }
    const page = yield* call("requests", (api) => api.list({ path: { org_name: org }, urlParams }))
    data.push(...page.data)
    after = isRequestId(page.pagination.next_cursor) ? page.pagination.next_cursor : undefined
  } while (after !== undefined && data.length < count)
  return { data, hasMore: after !== undefined } satisfies Listed
})

const isPaged = (filter: Filter) => filter === "waiting" || filter === "all"

interface Found {
  /** The list that was asked for. */
  readonly list: string
  readonly uses: ReadonlyArray<Approval>
  readonly requests: Listed
  /** The request of the link, if it is in neither. */
  readonly named: ApprovalRequest | null
}

const read = Effect.fnUntraced(function* (org: OrgName, filter: Filter, count: number, id: string | null) {
  const path = { org_name: org }
  const [uses, requests] = yield* Effect.all(
    [
      hasUses() && isPaged(filter)
        ? Effect.map(
            call("approvals", (api) => api.list({ path })),
            ({ data }) => data
          )
        : Effect.succeed<ReadonlyArray<Approval>>([]),
      readRequests(org, filter, count)
    ],
    { concurrency: 2 }
  )
  const isListed = [...uses, ...requests.data].some((one) => one.id === id)
  const named =
    isListed || !isRequestId(id)
      ? null
      : yield* Effect.orElseSucceed(
          call("requests", (api) => api.get({ path: { ...path, request_id: id } })),
          () => null
        )
  return { list: `${filter} ${count}`, uses, requests, named } satisfies Found
})

const Nothing = ({ filter }: { readonly filter: Filter }) => (
  <p class="quiet">
    {filter === "waiting"
      ? "No request waits. Changes of protected environments come here, and requests for access" +
        (hasUses() ? ", and requests of use rules with approval where you have the permission admin" : "") +
        ". This page looks for new ones by itself."
      : "There are none that you may see."}
  </p>
)

/** Requests for access, for changes and with secrets, in one list. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const show = query.value.get("show")
  const filter = filters.find((word) => word === show) ?? "waiting"
  const id = query.value.get("id")
  const count = useSignal(firstCount)
  const found = useLoad(`${org} ${filter} ${id ?? ""}`, () => read(org, filter, count.peek(), id))
  const said = useSignal<string | null>(null)
  const { arrived, ordered } = useSettledOrder()
  const known = found.loaded.value.value
  useEffect(forgetProposed, [])
  useEffect(() => {
    if (known === null || filter !== "waiting") return
    noteUses(org, known.uses)
    // The badge has what was counted before, unless all that wait are shown.
    if (!known.requests.hasMore) noteVotes(org, known.requests.data)
  }, [org, known])
  usePoll(found, pollMillis())
  const decided = (what: string) => {
    said.value = what
    found.reload()
  }
  return (
    <section class="narrow">
      <PageHead
        title="Requests"
        about="Changes of protected environments, access for a while, and uses of secrets that wait for somebody's yes."
        create={
          <Choose
            label="Show"
            value={filter}
            words={filters}
            choose={(word) => {
              setQuery("show", word === "waiting" ? null : word)
              count.value = firstCount
            }}
          />
        }
      />
      <p role="status">{said.value}</p>
      <Reading of={found}>
        {({ list, named, requests, uses }) => {
          const newest = [
            ...uses.map((approval) => ({
              id: approval.id,
              card: (
                <Use key={approval.id} org={org} approval={approval} isNamed={approval.id === id} decided={decided} />
              )
            })),
            ...[...(named === null ? [] : [named]), ...requests.data].map((request) => ({
              id: request.id,
              card: (
                <Request key={request.id} org={org} request={request} isNamed={request.id === id} decided={decided} />
              )
            }))
          ].sort((one, other) => Number(other.id === id) - Number(one.id === id))
          const shown = ordered(list, newest)
          return (
            <>
              {id !== null && !shown.some((one) => one.id === id) && (
                <p>The request of the link does not wait any more: it was decided, or its 5 minutes are over.</p>
              )}
              {shown.length === 0 && <Nothing filter={filter} />}
              <ul class="approvals">{shown.map(({ card }) => card)}</ul>
              <p role="status">{arrived.value}</p>
              {requests.hasMore && (
                <p>
                  <button
                    type="button"
                    disabled={requests.data.length < count.value}
                    onClick={() => {
                      count.value = requests.data.length + maxPageSize
                      found.reload()
                    }}
                  >
                    Older requests
                  </button>
                </p>
              )}
            </>
          )
        }}
      </Reading>
    </section>
  )
}
