import { ExportId, UserId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decidingBy } from "../../access/gate/RequestStates.js"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"
import { makePurge } from "../../database/jobs/Purge.js"

export const exportPurge = makePurge({ table: "exports" })

const ExportRow = Schema.Struct({
  id: ExportId,
  user_id: UserId,
  versions: Schema.Literal(0, 1),
  created_by: Schema.String,
  approved_by: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  expires_at: Schema.Number,
  /** Whether an environment of the organization is protected now. */
  guarded: Schema.Literal(0, 1)
})
export type ExportRow = typeof ExportRow.Type

const FoundRow = Schema.Struct({ found: Schema.Number })

const live = sql`
  SELECT x.id AS id, x.user_id AS user_id, x.versions AS versions, x.created_by AS created_by, x.approved_by AS approved_by,
    x.created_at AS created_at, x.expires_at AS expires_at, CASE WHEN EXISTS (
      SELECT 1 FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv} AND e.protected = 1
      WHERE p.org_id = x.org_id AND p.removed_at IS NULL) THEN 1 ELSE 0 END AS guarded
  FROM exports x WHERE x.org_id = ${"orgId"} AND x.expires_at > ${databaseTime}`

const may = decidingBy(databaseTime, "CASE WHEN approved_by IS NULL THEN 'pending' ELSE 'approved' END")

/** The exports of organizations that have not ended. */
export const exportsRepo = Effect.map(
  query,
  ({ all, first, one, returning, write }) =>
    ({
      all: all(ExportRow)`${live} ORDER BY x.id`,

      find: first(ExportRow)`${live} AND x.id = ${"id"}`,

      count: one(CountRow)`
        SELECT count(*) AS count FROM exports x WHERE x.org_id = ${"orgId"} AND x.expires_at > ${databaseTime}`,

      insert: write`
        INSERT INTO exports (id, org_id, user_id, versions, created_by, created_at, expires_at)
        VALUES (${"id"}, ${"orgId"}, ${"userId"}, ${"versions"}, ${"createdBy"}, ${"now"}, ${databaseTime} + ${"lifetime"})`,

      approve: returning(idRow(ExportId))`
        UPDATE exports SET approved_by = ${"by"} WHERE id = ${"id"} AND ${may("approve")} RETURNING id`,

      remove: write`DELETE FROM exports WHERE id = ${"id"}`,

      /** Whether a person could ask for an export now. */
      owner: first(FoundRow)`
        SELECT 1 AS found FROM users u
        WHERE u.id = ${"userId"} AND u.disabled_at IS NULL AND (u.superadmin = 1 OR EXISTS (
          SELECT 1 FROM members m
          WHERE m.user_id = u.id AND m.org_id = ${"orgId"} AND m.role = 'owner' AND m.removed_at IS NULL))`
    }) as const
)
