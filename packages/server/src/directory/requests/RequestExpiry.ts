import { EnvId, OrgId, RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { batchSize, eachRow } from "../../database/jobs/EachRow.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { databaseTime, query } from "../../database/Query.js"
import { makeSealedCalls } from "./SealedCalls.js"
import { idRow } from "../../database/Rows.js"

const EndedRow = Schema.Struct({
  id: RequestId,
  org_id: OrgId,
  env_id: EnvId,
  project: Schema.String,
  env: Schema.String,
  actor_name: Schema.String
})

/** Notes requests that have ended without enough votes, with an entry of the audit log for each, and erases their calls. */
export const makeRequestExpiry = Effect.gen(function* () {
  const audit = yield* AuditLog
  const bodies = yield* makeSealedCalls
  const { all, returning } = yield* query

  const ended = all(EndedRow)`
    SELECT r.id AS id, r.org_id AS org_id, r.env_id AS env_id, p.name AS project, e.name AS env, r.actor_name AS actor_name
    FROM requests r JOIN environments e ON e.id = r.env_id JOIN projects p ON p.id = e.project_id
    WHERE r.state = 'pending' AND r.expires_at <= ${databaseTime} ORDER BY r.expires_at, r.id LIMIT ${"limit"}`

  // Another server may have noted it.
  const expire = returning(idRow(RequestId))`
    UPDATE requests SET state = 'expired', decided_at = ${"now"}, bytes = 0
    WHERE id = ${"id"} AND state = 'pending' AND expires_at <= ${databaseTime} RETURNING id`

  const note = Effect.fnUntraced(function* ({ actor_name, env, id, org_id, project }: typeof EndedRow.Type) {
    if ((yield* expire({ id, now: yield* now })).length === 0) return
    yield* bodies.remove(id)
    yield* audit.change(
      { actor: { type: "system", id: null, name: "expiry" }, orgId: org_id, project, env },
      { action: "request.expire", resource_type: "request", resource_id: id, metadata: { requester: actor_name } }
    )
  })

  return { expireAll: (fenced: Fenced) => eachRow(ended({ limit: batchSize }), note, fenced) } as const
})
