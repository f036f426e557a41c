import { momentCell } from "../../base/Moments.js"
import { completedBy } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import type { Approval } from "@coffer/domain/requests/Approval"
import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import { ApprovalId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { atOrg, group, wide } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { listView } from "../../terminal/View.js"
import { approveUse, refuseUse } from "../requests/OtherRequests.js"
import { askedFor } from "../requests/RequestText.js"
import { readRequests } from "../requests/Requests.js"

/** Returns the row of a waiting request: one with a secret, or one for access or for a change. */
const rowOf = (one: Approval | ApprovalRequest) => {
  const { env, expires_at: until, id, project, state } = one
  const shared = { id, state, place: `${project}/${env}`, until }
  if ("kind" in one) {
    const { keys = [], kind, requester } = one
    return {
      ...shared,
      kind,
      who: requester,
      secrets: keys.map(({ key }) => key).join(" "),
      request: kind === "access" ? askedFor(one) : (one.call ?? kind),
      body: ""
    }
  }
  const { account, body, body_base64, method, secrets, store, url } = one
  return {
    ...shared,
    kind: "use",
    who: account,
    secrets: secrets.join(" "),
    request: `${method} ${url}${store === undefined ? "" : `, stores ${store.pointer} as ${store.key}`}`,
    body: body ?? (body_base64 === undefined ? "" : "(not text: see --json)")
  }
}
type Row = ReturnType<typeof rowOf>

const columns = {
  id: ({ id }: Row) => id,
  kind: ({ kind }: Row) => kind,
  state: ({ state }: Row) => state,
  who: ({ who }: Row) => who,
  place: ({ place }: Row) => place,
  secrets: ({ secrets }: Row) => secrets,
  request: ({ request }: Row) => request,
  body: ({ body }: Row) => body,
  until: ({ until }: Row) => momentCell(until)
}

/** At most this many requests are listed beside the approvals. */
const maxRequests = 1_000

const list = atOrg("list", {
  description: "List what waits for a person: requests with secrets, and those for access and for changes",
  examples: ["coffer approval list"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.gen(function* () {
      const approvals = yield* call("approvals", (api) => api.list({ path }))
      const requests = yield* readRequests(call, path, { state: "pending" }, maxRequests).pipe(
        // An older server has none.
        Effect.catchTag("NotFound", () => Effect.succeed({ data: [] }))
      )
      const rows = { data: [...approvals.data, ...requests.data].map(rowOf) }
      const view = listView(rows, columns, "no request waits for you", ["id", "kind", "request", "who", "secrets"])
      return { ...view, json: { ...approvals, requests: requests.data } }
    })
})

const id = completedBy(
  "approval",
  argument("ID", idOf(ApprovalId), "The request's id, as coffer approval list shows it")
)

const approve = atOrg("approve", {
  description: "Let a request with a secret leave, once, within 5 minutes",
  examples: ["coffer approval approve 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0"],
  options: { id },
  run: ({ call, options, path }) => approveUse(call, path, options.id)
})

const refuse = atOrg("refuse", {
  description: "Refuse a request with a secret",
  examples: ["coffer approval refuse 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0"],
  options: { id },
  run: ({ call, options, path }) => refuseUse(call, path, options.id)
})

export const approvalCommand = group("approval", "Requests with secrets that people approve one by one", [
  list,
  approve,
  refuse
])
