import { ConnectionId, EnvId, OrgId, ProjectId, RotationId } from "@coffer/domain/base/Ids"
import { ConnectionName, EnvName, OrgName, ProjectName, RotationName } from "@coffer/domain/base/Names"
import { rotationStates } from "@coffer/domain/secrets/Rotation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"

const fields = {
  id: RotationId,
  connection_id: ConnectionId,
  connection: ConnectionName,
  name: RotationName,
  users: Schema.String,
  writes: Schema.String,
  every: Schema.String,
  open_at: Schema.NullOr(Schema.String),
  length: Schema.Number,
  alphabet: Schema.String,
  state: Schema.Literal(...rotationStates),
  turn: Schema.Number,
  draw: Schema.Number,
  due_at: Schema.Number,
  rotated_at: Schema.NullOr(Schema.String),
  failures: Schema.Number,
  problem: Schema.NullOr(Schema.String),
  paused: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
}
const RotationRow = Schema.Struct(fields)
export type RotationRow = typeof RotationRow.Type

/** A rotation with its place, for the job. */
const PlacedRow = Schema.Struct({
  ...fields,
  org_id: OrgId,
  org: OrgName,
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName
})
export type PlacedRow = typeof PlacedRow.Type

const DueRow = Schema.Struct({ id: RotationId, org_id: OrgId })
const RunningRow = Schema.Struct({ id: RotationId, org_id: OrgId, env_id: EnvId })
const id = idRow(RotationId)

const columns = sql`
  r.id AS id, r.connection_id AS connection_id, c.name AS connection, r.name AS name, r.users AS users, r.writes AS writes,
  r.every AS every, r.open_at AS open_at, r.length AS length, r.alphabet AS alphabet, r.state AS state, r.turn AS turn,
  r.draw AS draw, r.due_at AS due_at, r.rotated_at AS rotated_at, r.failures AS failures, r.problem AS problem,
  r.paused AS paused, r.created_by AS created_by, r.created_at AS created_at, r.updated_at AS updated_at`

const from = sql`FROM rotations r JOIN connections c ON c.id = r.connection_id`

/** The live place of a rotation. */
const placed = sql`
  JOIN environments e ON e.id = r.env_id AND ${liveEnv}
  JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
  JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL`

const isDue = sql`r.paused IS NULL AND r.due_at <= ${databaseTime}`

/** The condition of each step: it is that of this draw, in the state in which it was read. */
const asRead = sql`id = ${"id"} AND state = ${"state"} AND draw = ${"draw"} AND paused IS NULL`

export const rotationsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query

  return {
    ofEnv: all(RotationRow)`SELECT ${columns} ${from} WHERE r.env_id = ${"envId"} ORDER BY r.name`,

    find: first(RotationRow)`SELECT ${columns} ${from} WHERE r.env_id = ${"envId"} AND r.name = ${"name"}`,

    count: one(CountRow)`SELECT count(*) AS count FROM rotations WHERE env_id = ${"envId"}`,

    insert: insert("rotations", [
      ...["id", "org_id", "env_id", "connection_id", "name", "users", "writes", "every", "open_at", "length"],
      ...["alphabet", "state", "turn", "draw", "due_at", "failures", "created_by", "created_at", "updated_at"]
    ]),

    update: write`
      UPDATE rotations SET writes = ${"writes"}, every = ${"every"}, open_at = ${"openAt"}, paused = ${"paused"},
        failures = ${"failures"}, due_at = ${"dueAt"}, updated_at = ${"now"}
      WHERE id = ${"id"}`,

    remove: write`DELETE FROM rotations WHERE id = ${"id"}`,

    runNow: write`UPDATE rotations SET due_at = 0 WHERE id = ${"id"}`,

    due: all(DueRow)`
      SELECT r.id AS id, r.org_id AS org_id FROM rotations r ${placed}
      WHERE ${isDue} ORDER BY r.due_at, r.id LIMIT ${"limit"}`,

    paused: one(CountRow)`SELECT count(*) AS count FROM rotations r ${placed} WHERE r.paused IS NOT NULL`,

    findDue: first(PlacedRow)`
      SELECT ${columns}, r.org_id AS org_id, o.name AS org, p.id AS project_id, p.name AS project, e.id AS env_id, e.name AS env
      ${from} ${placed} WHERE r.id = ${"id"} AND ${isDue}`,

    /** Whether a step is still the one that was read. */
    isCurrent: first(id)`SELECT id FROM rotations WHERE ${asRead}`,

    draw: returning(id)`
      UPDATE rotations SET state = 'drawn', draw = draw + 1 WHERE ${asRead} RETURNING id`,

    advance: returning(id)`
      UPDATE rotations SET state = ${"next"}, failures = 0, problem = NULL WHERE ${asRead} RETURNING id`,

    finish: returning(id)`
      UPDATE rotations SET state = 'idle', turn = ${"turn"}, due_at = ${"dueAt"}, rotated_at = ${"now"}
      WHERE ${asRead} RETURNING id`,

    postpone: returning(id)`UPDATE rotations SET due_at = ${"dueAt"} WHERE ${asRead} RETURNING id`,

    fail: returning(id)`
      UPDATE rotations SET failures = failures + 1, problem = ${"problem"}, due_at = ${"dueAt"}, paused = ${"pause"}
      WHERE ${asRead} RETURNING id`,

    /** Notes a mail about failures, unless there was one within a time. */
    noteMail: returning(id)`
      UPDATE rotations SET mailed_at = ${databaseTime} WHERE id = ${"id"}
        AND (mailed_at IS NULL OR mailed_at <= ${databaseTime} - ${"millis"}) RETURNING id`,

    running: all(RunningRow)`SELECT id, org_id, env_id FROM rotations WHERE paused IS NULL`,

    /** For a restored database: the one that it was copied from goes on. */
    pauseAll: write`UPDATE rotations SET paused = ${"reason"} WHERE paused IS NULL`
  } as const
})
