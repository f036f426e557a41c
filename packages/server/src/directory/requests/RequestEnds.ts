import { defined } from "@coffer/domain/base/Defined"
import { RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decidingBy, mayEnd, stateAfter } from "../../access/gate/RequestStates.js"
import type { AuditEvent, AuditSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { timestamp } from "../../base/Time.js"
import { Database } from "../../database/Database.js"
import { databaseTime, query, type Sql } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"
import { makeSealedCalls } from "./SealedCalls.js"

/** A request for access or for a change, as its end records it. */
export const EndingRow = Schema.Struct({
  id: RequestId,
  project: Schema.String,
  env: Schema.String,
  actor_name: Schema.String
})
type EndingRow = typeof EndingRow.Type

/** The events that end a request before its time. */
export type RequestEnd = "apply" | "refuse" | "withdraw" | "outdate"

/** The facts that the end of a request records. */
export interface EndFacts {
  /** The differences since it was asked for. */
  readonly outdated?: ReadonlyArray<string>
  readonly approvedBy?: ReadonlyArray<string>
  readonly revision?: number | null
  readonly ruleId?: string | null
  readonly comment?: string
}

/** An event of a request, for the audit log. */
export const requestEvent = (
  { actor_name, id }: Pick<EndingRow, "id" | "actor_name">,
  event: RequestEnd | "approve" | "expire",
  metadata: Record<string, unknown> = {}
): AuditEvent => ({
  action: `request.${event}`,
  resource_type: "request",
  resource_id: id,
  metadata: { requester: actor_name, ...metadata }
})

const may = decidingBy(databaseTime)
const jsonOf = (texts: ReadonlyArray<string> | undefined): string | null =>
  texts === undefined ? null : JSON.stringify(texts)

/**
 * Ends requests for access and for changes: notes the state, erases the call, and writes the entry of the audit log. Returns whether
 * the request was open: a server of an earlier version notes an end without the lock of the organization.
 */
export const makeRequestEnds = Effect.gen(function* () {
  const audit = yield* AuditLog
  const calls = yield* makeSealedCalls
  const { clock } = yield* Database
  const { returning } = yield* query

  const ending = (event: RequestEnd, isAllowed: Sql<never>) =>
    returning(idRow(RequestId))`
      UPDATE requests SET state = ${stateAfter(event)}, decided_at = ${"now"}, outdated = ${"outdated"},
        approved_by = ${"approvedBy"}, revision = ${"revision"}, rule_id = ${"ruleId"}, bytes = 0
      WHERE id = ${"id"} AND ${isAllowed} RETURNING id`

  const statements = {
    apply: ending("apply", may("apply")),
    refuse: ending("refuse", may("refuse")),
    withdraw: ending("withdraw", may("withdraw")),
    outdate: ending("outdate", mayEnd("outdate"))
  }

  return Effect.fnUntraced(function* (
    row: EndingRow,
    by: AuditSource,
    event: RequestEnd,
    { approvedBy, comment, outdated, revision = null, ruleId = null }: EndFacts = {}
  ) {
    const { env, id, project } = row
    const now = timestamp(yield* clock)
    const facts = { outdated: jsonOf(outdated), approvedBy: jsonOf(approvedBy), revision, ruleId }
    const ended = yield* statements[event]({ id, now, ...facts })
    if (ended.length === 0) return false
    yield* calls.remove(id)
    const metadata = defined({ because: outdated, approved_by: approvedBy, comment })
    yield* audit.change({ ...by, project, env }, requestEvent(row, event, metadata))
    return true
  })
})
