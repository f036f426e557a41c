import { EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now, timestamp } from "../../base/Time.js"
import { batchSize, eachRow } from "../../database/jobs/EachRow.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { databaseTime, query, type Sql, sql } from "../../database/Query.js"
import { makeRemovals } from "../../directory/trash/Removals.js"
import { idRow } from "../../database/Rows.js"

/** How long before its end an environment is announced. */
const noticeMillis = 24 * 60 * 60 * 1000

const EndingRow = Schema.Struct({
  id: EnvId,
  env: EnvName,
  expires_at: Schema.Number,
  /** Null if the project or its organization was removed. */
  project: Schema.NullOr(Schema.String),
  project_id: ProjectId,
  org_id: Schema.NullOr(OrgId)
})
type EndingRow = typeof EndingRow.Type

/** The environments `x` under a condition with their places. */
const ending = <Name extends string>(condition: Sql<Name>) => sql`
  SELECT e.id AS id, e.name AS env, e.expires_at AS expires_at, p.name AS project,
    e.project_id AS project_id, o.id AS org_id
  FROM (
    SELECT x.* FROM environments x WHERE x.removed_at IS NULL AND x.expires_at IS NOT NULL AND ${condition}
    ORDER BY x.expires_at, x.id LIMIT ${"limit"}) e
  LEFT JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
  LEFT JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL`

/** Announces environments that end soon, and removes those that have ended. They are none before that. */
export const makeEnvironmentExpiry = Effect.gen(function* () {
  const audit = yield* AuditLog
  const removals = yield* makeRemovals
  const { all, returning } = yield* query

  const ended = all(EndingRow)`${ending(sql`x.expires_at <= ${databaseTime}`)}`
  const endedOf = all(EndingRow)`
    ${ending(sql`x.project_id = ${"projectId"} AND x.name = ${"name"} AND x.expires_at <= ${databaseTime}`)}`
  // An import that is hidden announces nothing yet.
  const expiring = all(EndingRow)`
    ${ending(sql`x.expires_at > ${databaseTime} AND x.expires_at <= ${databaseTime} + ${"notice"}
      AND (x.announced_end IS NULL OR x.announced_end <> x.expires_at) AND EXISTS (
        SELECT 1 FROM projects xp JOIN organizations xo ON xo.id = xp.org_id AND xo.removed_at IS NULL
        WHERE xp.id = x.project_id AND xp.removed_at IS NULL)`)}`

  // A change may have set another end, or another server may have removed it.
  const remove = returning(idRow(EnvId))`
    UPDATE environments SET removed_at = ${"now"}, revision = revision + 1
    WHERE id = ${"id"} AND removed_at IS NULL AND expires_at <= ${databaseTime} RETURNING id`

  const announce = returning(idRow(EnvId))`
    UPDATE environments SET announced_end = ${"end"}
    WHERE id = ${"id"} AND removed_at IS NULL AND expires_at = ${"end"} AND (announced_end IS NULL OR announced_end <> ${"end"})
    RETURNING id`

  const note = ({ env, expires_at, id, org_id, project }: EndingRow, action: AuditEvent["action"]) =>
    org_id === null || project === null
      ? Effect.void
      : audit.change(
          { actor: { type: "system", id: null, name: "expiry" }, orgId: org_id, project, env },
          { action, resource_type: "env", resource_id: id, metadata: { name: env, expires_at: timestamp(expires_at) } }
        )

  const expire = Effect.fnUntraced(function* (row: EndingRow) {
    const removed = yield* remove({ id: row.id, now: yield* now })
    if (removed.length === 0) return
    yield* note(row, "env.expire")
    const { env: name, id, org_id: orgId, project, project_id: projectId } = row
    // Of a removed project, it goes with that.
    if (orgId !== null && project !== null) yield* removals.ended({ kind: "env", id, orgId, projectId, name })
  })

  const announceOne = Effect.fnUntraced(function* (row: EndingRow) {
    const announced = yield* announce({ id: row.id, end: row.expires_at })
    if (announced.length > 0) yield* note(row, "env.expiring")
  })

  return {
    announceAll: (fenced: Fenced) => eachRow(expiring({ notice: noticeMillis, limit: batchSize }), announceOne, fenced),

    expireAll: (fenced: Fenced) => eachRow(ended({ limit: batchSize }), expire, fenced),

    /** Removes what has ended and still has a name, in the transaction that gives the name to another. */
    expireNamed: (projectId: ProjectId, name: EnvName) =>
      Effect.flatMap(endedOf({ projectId, name, limit: 1 }), (rows) => Effect.forEach(rows, expire, { discard: true }))
  } as const
})
