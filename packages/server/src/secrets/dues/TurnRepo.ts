import { SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql, usingIndex } from "../../database/Query.js"
import { newestVersion } from "../stored/Columns.js"
import { dueColumns, dueFields, joinDue } from "../stored/DueColumns.js"

const TurningRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  /** When the current version was written. */
  version_at: Schema.String,
  event_at: Schema.NullOr(Schema.String),
  ...dueFields
})
export type TurningRow = typeof TurningRow.Type

const columns = sql`s.id AS id, s.key AS key, coalesce(v.created_at, s.updated_at) AS version_at, d.event_at AS event_at,
  ${dueColumns}`

/** The due dates of secrets that rotations write. */
export const turnRepo = Effect.map(
  query,
  ({ all, first, insert }) =>
    ({
      /** The secrets that have their due date of a rotation, also removed ones. */
      ofRotation: all(TurningRow)`
        SELECT ${columns} FROM secret_dues d ${usingIndex("secret_dues_by_env")}
        JOIN secrets s ON s.id = d.secret_id ${newestVersion}
        WHERE d.env_id = ${"envId"} AND d.due_at IS NOT NULL AND d.rotation_id = ${"id"}`,

      live: first(TurningRow)`
        SELECT ${columns} FROM secrets s ${newestVersion} ${joinDue}
        WHERE s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NULL`,

      save: insert(
        "secret_dues",
        [
          ...(["secret_id", "org_id", "env_id", "owner", "expires_at", "rotate_every_days"] as const),
          ...(["rotation_id", "turn_at", "due_at", "event_at"] as const)
        ],
        sql`ON CONFLICT (secret_id) DO UPDATE SET rotation_id = excluded.rotation_id, turn_at = excluded.turn_at,
          due_at = excluded.due_at, event_at = excluded.event_at`
      )
    }) as const
)
