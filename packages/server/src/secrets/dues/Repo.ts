import { ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { query, sql, usingIndex } from "../../database/Query.js"
import { Newest, newestColumn, newestVersion } from "../stored/Columns.js"
import { dueColumns, dueFields, joinDue } from "../stored/DueColumns.js"

const CurrentRow = Schema.Struct({
  id: SecretId,
  version: Schema.Number,
  newest: Newest,
  updated_at: Schema.String,
  /** When the current version was written. */
  version_at: Schema.String,
  event_at: Schema.NullOr(Schema.String),
  ...dueFields
})

const WithinRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  newest: Newest,
  updated_at: Schema.String,
  ...dueFields,
  due_at: Schema.String
})

/** A due date of an organization. Null if the secret or its place was removed. */
const OfOrgRow = Schema.Struct({
  id: SecretId,
  project_id: Schema.NullOr(ProjectId),
  project: Schema.NullOr(ProjectName),
  env: Schema.NullOr(EnvName),
  key: Schema.NullOr(SecretKey),
  version: Schema.NullOr(Schema.Number),
  updated_at: Schema.NullOr(Schema.String),
  ...dueFields,
  due_at: Schema.String
})
export type OfOrgRow = typeof OfOrgRow.Type

const RotatedRow = Schema.Struct({
  id: SecretId,
  expires_at: Schema.NullOr(Schema.String),
  rotate_every_days: Schema.Number
})

/** Rows after a position, by due date and secret, up to a time. */
const page = sql`due_at <= ${"until"} AND (due_at, secret_id) > (${"dueAt"}, ${"id"})
  ORDER BY due_at, secret_id LIMIT ${"limit"}`

/** The secrets and places of the due dates `d`, which may have been removed. */
const places = sql`
  LEFT JOIN secrets s ON s.id = d.secret_id AND s.removed_at IS NULL
  LEFT JOIN environments e ON e.id = s.env_id AND ${liveEnv}
  LEFT JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL`

/** Moves due dates after secrets were written. */
export const movesRepo = Effect.map(
  query,
  ({ all, write }) =>
    ({
      /** The secrets that a revision gave a new version, and that people replace at an age. */
      rotated: all(RotatedRow)`
        SELECT d.secret_id AS id, d.expires_at AS expires_at, d.rotate_every_days AS rotate_every_days FROM secret_dues d
        WHERE d.env_id = ${"envId"} AND d.rotate_every_days IS NOT NULL AND d.turn_at IS NULL AND d.secret_id IN (
          SELECT c.secret_id FROM secret_changes c
          WHERE c.env_id = ${"envId"} AND c.revision = ${"revision"} AND c.change = 'updated')`,

      move: write`
        UPDATE secret_dues SET due_at = ${"dueAt"}, event_at = ${"eventAt"} WHERE secret_id = ${"id"}`
    }) as const
)

/** When secrets are due. */
export const duesRepo = Effect.gen(function* () {
  const { all, first, insert, write } = yield* query

  return {
    /** A live secret with what is set about it. */
    current: first(CurrentRow)`
        SELECT s.id AS id, s.version AS version, CASE WHEN v.version IS NULL THEN 0 ELSE 1 END AS newest,
          s.updated_at AS updated_at, coalesce(v.created_at, s.updated_at) AS version_at, d.event_at AS event_at, ${dueColumns}
        FROM secrets s ${newestVersion} ${joinDue}
        WHERE s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NULL`,

    save: insert(
      "secret_dues",
      ["secret_id", "org_id", "env_id", "owner", "expires_at", "rotate_every_days", "due_at", "event_at"],
      sql`ON CONFLICT (secret_id) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at,
          rotate_every_days = excluded.rotate_every_days, due_at = excluded.due_at, event_at = excluded.event_at`
    ),

    /** Gives the environment's due dates another ETag. */
    touch: write`UPDATE environments SET due_revision = due_revision + 1 WHERE id = ${"envId"}`,

    /** The live secrets of an environment that are due until a time, by due date and id. */
    within: all(WithinRow)`
        SELECT s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at, ${newestColumn}, ${dueColumns}
        FROM secret_dues d ${usingIndex("secret_dues_by_env")}
        JOIN secrets s ON s.id = d.secret_id AND s.removed_at IS NULL
        WHERE d.env_id = ${"envId"} AND d.due_at <= ${"until"} AND (d.due_at, d.secret_id) > (${"dueAt"}, ${"id"})
        ORDER BY d.due_at, d.secret_id LIMIT ${"limit"}`,

    /** The due dates of an organization until a time, also of what was removed, so that a page has a bounded cost. */
    ofOrg: all(OfOrgRow)`
        SELECT d.secret_id AS id, p.id AS project_id, p.name AS project, e.name AS env, s.key AS key, s.version AS version,
          s.updated_at AS updated_at, ${dueColumns}
        FROM (SELECT * FROM secret_dues ${usingIndex("secret_dues_by_org")} WHERE org_id = ${"orgId"} AND ${page}) d ${places}
        ORDER BY d.due_at, d.secret_id`
  } as const
})

export type CurrentDue = typeof CurrentRow.Type
