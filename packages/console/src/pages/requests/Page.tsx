import { requestStates } from "@coffer/domain/ApprovalRequest"
import type { ApprovalRequest, RequestPage } from "@coffer/domain/ApprovalRequest"
import type { Approval } from "@coffer/domain/Approval"
import { defined } from "@coffer/domain/Defined"
import { RequestId } from "@coffer/domain/Ids"
import type { OrgName } from "@coffer/domain/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { MoreButton, useMore } from "../../kit/More.js"
import { Reading } from "../../kit/Reading.js"
import { query } from "../../routing/Router.js"
import { forgetProposed } from "../../state/Proposed.js"
import { hasUses } from "../../state/Server.js"
import { noteUses, noteVotes } from "../../state/Waiting.js"
import type { PageProps } from "../PageProps.js"
import { Request } from "./Request.js"
import { Use } from "./Use.js"
import "./Page.css"

/** How often the list is read: a use that waits ends after 5 minutes. */
const pollMillis = () => (hasUses() ? 3_000 : 15_000)

const [, ...endStates] = requestStates
const filters = ["waiting", "all", ...endStates] as const
type Filter = (typeof filters)[number]

const isRequestId = Schema.is(Schema.typeSchema(RequestId))

const readPage = (org: OrgName, filter: Filter, after?: RequestId) => {
  const state = filter === "all" ? undefined : filter === "waiting" ? "pending" : filter
  return call("requests", (api) => api.list({ path: { org_name: org }, urlParams: defined({ state, after }) }))
}

const isPaged = (filter: Filter) => filter === "waiting" || filter === "all"

interface Found {
  readonly uses: ReadonlyArray<Approval>
  readonly page: RequestPage
  /** The request of the link, if it is in neither. */
  readonly named: ApprovalRequest | null
}

const read = Effect.fnUntraced(function* (org: OrgName, filter: Filter, id: string | null) {
  const path = { org_name: org }
  const [uses, page] = yield* Effect.all(
    [
      hasUses() && isPaged(filter)
        ? Effect.map(
            call("approvals", (api) => api.list({ path })),
            ({ data }) => data
          )
        : Effect.succeed<ReadonlyArray<Approval>>([]),
      readPage(org, filter)
    ],
    { concurrency: 2 }
  )
  const isListed = [...uses, ...page.data].some((one) => one.id === id)
  const named =
    isListed || !isRequestId(id)
      ? null
      : yield* Effect.orElseSucceed(
          call("requests", (api) => api.get({ path: { ...path, request_id: id } })),
          () => null
        )
  return { uses, page, named } satisfies Found
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
  const filter = useSignal<Filter>("waiting")
  const id = query.value.get("id")
  const list = `${org} ${filter.value}`
  const found = useLoad(`${list} ${id ?? ""}`, () => read(org, filter.peek(), id))
  const more = useMore<ApprovalRequest>(list)
  const said = useSignal<string | null>(null)
  const known = found.loaded.value.value
  useEffect(forgetProposed, [])
  useEffect(() => {
    if (known === null || filter.peek() !== "waiting") return
    noteUses(org, known.uses)
    noteVotes(org, known.page.data)
  }, [org, known])
  useEffect(() => {
    // The button that was pressed has gone with its request.
    if (said.peek() !== null && document.activeElement === document.body) document.getElementById("page")?.focus()
  }, [known])
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !found.loaded.peek().isLoading) found.reload()
    }, pollMillis())
    return () => {
      clearInterval(timer)
    }
  }, [org])
  const decided = (what: string) => {
    said.value = what
    more.restart()
    found.reload()
  }
  return (
    <section class="narrow">
      <h1>Requests</h1>
      <div class="fields">
        <Choose label="Show" value={filter.value} words={filters} choose={(word) => (filter.value = word)} />
      </div>
      <p role="status">{said.value}</p>
      <Reading of={found}>
        {({ named, page, uses }) => {
          const requests = [...(named === null ? [] : [named]), ...page.data, ...more.rows.value]
          const shown = [
            ...uses.map((approval) => ({
              id: approval.id,
              card: (
                <Use key={approval.id} org={org} approval={approval} isNamed={approval.id === id} decided={decided} />
              )
            })),
            ...requests.map((request) => ({
              id: request.id,
              card: (
                <Request key={request.id} org={org} request={request} isNamed={request.id === id} decided={decided} />
              )
            }))
          ].sort((one, other) => Number(other.id === id) - Number(one.id === id))
          return (
            <>
              {id !== null && !shown.some((one) => one.id === id) && (
                <p>The request of the link does not wait any more: it was decided, or its 5 minutes are over.</p>
              )}
              {shown.length === 0 && <Nothing filter={filter.value} />}
              <ul class="approvals">{shown.map(({ card }) => card)}</ul>
              <MoreButton
                first={page}
                more={more}
                read={(after) => (isRequestId(after) ? readPage(org, filter.peek(), after) : Effect.never)}
              >
                Older requests
              </MoreButton>
            </>
          )
        }}
      </Reading>
    </section>
  )
}
