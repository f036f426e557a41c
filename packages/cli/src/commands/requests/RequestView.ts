import type { OrgPath } from "@coffer/domain/api/Paths"
import type { ApprovalRequest } from "@coffer/domain/requests/ApprovalRequest"
import { defined } from "@coffer/domain/base/Defined"
import type { Approvers } from "@coffer/domain/access/Protection"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { momentCell, momentText } from "../../base/Moments.js"
import { writeSecrets } from "../../formats/Formats.js"
import type { Call } from "../../grammar/Command.js"
import { note, printTable, writeValues } from "../../terminal/Print.js"
import type { Cell } from "../../terminal/Table.js"
import { askedFor, askedTo, placeOf, votesOf } from "./RequestText.js"

/** Returns the approvers, in words. */
export const approversText = (approvers: Approvers): string =>
  approvers === "admins" ? "admins and owners" : typeof approvers === "string" ? approvers : approvers.join(", ")

/** The approvers of a request for access where no protection names people. */
const unprotected = "admins and owners"

/** Returns the people who may vote on a pending request. */
export const approversOf = (call: Call, { org_name }: OrgPath, { env, kind, project, state }: ApprovalRequest) => {
  if (state !== "pending") return Effect.succeed(undefined)
  const path = { org_name, project_name: project, env_name: env }
  return call("protections", (api) => api.get({ path })).pipe(
    Effect.map(({ approvers }) => approversText(approvers)),
    Effect.catchTag("NotFound", () => Effect.succeed(kind === "access" ? unprotected : undefined))
  )
}

/** The fields of a request, without values. */
export const fieldsOf = (request: ApprovalRequest, approvers: string | undefined): Readonly<Record<string, Cell>> => {
  const { decided_at, details = [], expires_at, outdated, reason, revision, rule_id, state, votes } = request
  return {
    id: request.id,
    kind: request.kind,
    state,
    place: placeOf(request),
    requester: request.requester,
    ...(request.kind === "access" ? { "asks for": askedFor(request) } : { "asks to": askedTo(request) }),
    ...(details.length > 0 && { with: details.join("; ") }),
    ...defined({ reason }),
    approvals: votesOf(request),
    ...defined({ approvers }),
    ...(votes.length > 0 && {
      votes: votes
        .map(
          ({ by, comment, created_at, vote }) =>
            `${vote} by ${by} at ${momentText(created_at)}${comment === undefined ? "" : `: ${comment}`}`
        )
        .join(", ")
    }),
    created: momentCell(request.created_at),
    ...(state === "pending" ? { until: momentCell(expires_at) } : defined({ decided: momentCell(decided_at) })),
    ...defined({ "changed since": outdated?.join(", "), rule: rule_id, revision })
  }
}

/** The keys that a change alters, without values. */
export const printKeys = ({ keys = [] }: ApprovalRequest) =>
  keys.length === 0
    ? Effect.void
    : printTable(
        ["key", "change", "version"],
        keys.map(({ change, key, version }) => [key, change, version])
      )

/** Prints the next commands for the person who looks at a request. */
export const nextOf = ({ id, is_own, may_vote, state }: ApprovalRequest) =>
  Effect.forEach(
    [
      ...(may_vote ? [`vote with: coffer request approve ${id}, or coffer request refuse ${id}`] : []),
      ...(is_own && state === "pending" ? [`take it back with: coffer request withdraw ${id}`] : []),
      ...(is_own && state === "outdated" ? ["ask again: run the command of the change again"] : [])
    ],
    note,
    { discard: true }
  )

/** Reads the values that a change sets. Needs the right to read them in the environment. */
export const readValues = Effect.fnUntraced(function* (call: Call, path: OrgPath, request: ApprovalRequest) {
  const { data } = yield* call("requests", (api) => api.values({ path: { ...path, request_id: request.id } }))
  const { text } = yield* writeSecrets("yaml", data, { withHead: false, skip: false, isAllowed: () => true })
  return {
    json: data.map(({ key, value }) => ({ key, value: Redacted.value(value) })),
    text: writeValues(Redacted.value(text), "--json has them as they are")
  }
})
