import type { Approval } from "@coffer/domain/Approval"
import { ApprovalId } from "@coffer/domain/Ids"
import * as Effect from "effect/Effect"
import { atOrg, group, wide } from "../../grammar/Command.js"
import { argument } from "../../grammar/Fields.js"
import { doneView, listView } from "../../terminal/View.js"

const columns = {
  id: ({ id }: Approval) => id,
  state: ({ state }: Approval) => state,
  account: ({ account }: Approval) => account,
  place: ({ env, project }: Approval) => `${project}/${env}`,
  secrets: ({ secrets }: Approval) => secrets.join(" "),
  request: ({ method, url }: Approval) => `${method} ${url}`,
  body: ({ body, body_base64 }: Approval) => body ?? (body_base64 === undefined ? "" : "(not text: see --json)"),
  until: ({ expires_at }: Approval) => expires_at
}

const list = atOrg("list", {
  description: "List the requests with secrets that wait for a person",
  examples: ["coffer approval list"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("approvals", (api) => api.list({ path })),
      (approvals) => listView(approvals, columns, "no request waits for you", ["id", "request", "account", "secrets"])
    )
})

const id = argument("ID", ApprovalId, "The request's id, as coffer approval list shows it")

const approve = atOrg("approve", {
  description: "Let a request with a secret leave, once, within 5 minutes",
  examples: ["coffer approval approve 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0"],
  options: { id },
  run: ({ call, options: { id: approval_id }, path }) =>
    Effect.map(
      call("approvals", (api) => api.approve({ path: { ...path, approval_id } })),
      (approval) => doneView(`${approval.account} may now send ${approval.method} ${approval.url}, once`, approval)
    )
})

const refuse = atOrg("refuse", {
  description: "Refuse a request with a secret",
  examples: ["coffer approval refuse 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0"],
  options: { id },
  run: ({ call, options: { id: approval_id }, path }) =>
    Effect.map(
      call("approvals", (api) => api.refuse({ path: { ...path, approval_id } })),
      (approval) => doneView(`${approval.method} ${approval.url} of ${approval.account} is refused`, approval)
    )
})

export const approvalCommand = group("approval", "Requests with secrets that people approve one by one", [
  list,
  approve,
  refuse
])
