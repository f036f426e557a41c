import type { OrgId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { requestSummary } from "@coffer/domain/requests/RequestSummary"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ApprovalMails } from "../../access/gate/ApprovalMails.js"
import { makeProtections } from "../../access/gate/Protections.js"
import { ServerConfig } from "../../base/Config.js"
import type { RequestRow } from "./Repo.js"
import { rulesOf, affectedIn } from "./RequestViews.js"

/** How many keys a mail names. */
const maxNamed = 20

const whatOf = ({ call, env, keys, permission, project }: RequestRow): string => {
  if (permission !== null) return `Access:       ${permission}`
  const affected = affectedIn(keys)
  const change = `Change:       ${requestSummary({ call: call ?? "", keys: affected })} ${project}/${env}`
  if (affected.length === 0) return change
  const names = affected.slice(0, maxNamed).map(({ key }) => key)
  const more = affected.length > maxNamed ? ` and ${affected.length - maxNamed} more` : ""
  return `${change}\n  Secrets:      ${names.join(", ")}${more}`
}

/** Names only: the reason is the requester's text, which may hold anything. */
const textOf = (org: OrgName, row: RequestRow, page: string | null): string =>
  `A request waits for your vote.

  Organization: ${org}
  Environment:  ${row.project}/${row.env}
  ${whatOf(row)}
  Asked by:     ${row.actor_type === "user" ? "" : "service account "}${row.actor_name}
  Request:      ${row.id}

To see what it changes, and to vote:

  ${page ?? `coffer request show ${row.id} --org ${org}`}

You get at most one of these mails an hour for an organization: more requests may wait.
`

/** Mails to the people who may vote on a request. */
export const makeRequestMails = Effect.gen(function* () {
  const mails = yield* ApprovalMails
  const protections = yield* makeProtections
  const { approvalMail, publicUrl, webConsole } = yield* ServerConfig

  /** Tells those who may vote that a request waits. Call it after the commit. */
  const waits = (org: { readonly id: OrgId; readonly name: OrgName }, row: RequestRow): Effect.Effect<void> => {
    if (!approvalMail) return Effect.void
    const { approvers, self } = rulesOf(row)
    const page = webConsole && publicUrl !== null ? `${publicUrl}/-/org/${org.name}/-/approvals?id=${row.id}` : null
    return mails.send({
      action: "request.list",
      approvers: Effect.map(protections.votersOf(org.id, approvers), (voters) =>
        self ? voters : voters.filter(({ id }) => id !== row.actor_id)
      ),
      orgId: org.id,
      place: { org: org.name, project: row.project, env: row.env },
      subject: `A request in ${org.name} waits for your vote`,
      text: textOf(org.name, row, page),
      lifetime: Duration.hours(24)
    })
  }

  return { waits } as const
})
