import { SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { Newest, newestColumn, sealedColumns, sealedFields } from "../stored/Columns.js"
import { dueColumns, dueFields, joinDue } from "../stored/DueColumns.js"

const VersionRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  /** 0 for a secret whose versions are all gone, as only tampering with the file makes it. */
  version: Schema.Number,
  current: Schema.Literal(0, 1),
  newest: Newest,
  ...sealedFields,
  /** The environment's revision that wrote it, and what is said of that. */
  revision: Schema.Number,
  note: Schema.NullOr(Schema.String),
  value_bytes: Schema.Number,
  created_at: Schema.String,
  created_by: Schema.String,
  destroyed_at: Schema.NullOr(Schema.String),
  ...dueFields
})
export type VersionRow = typeof VersionRow.Type

/** All versions of the live secrets of an environment after a position, in byte order of keys and by numbers. */
export const versionsAfter = Effect.map(
  query,
  ({ all }) => all(VersionRow)`
    SELECT s.id AS id, s.key AS key, coalesce(v.version, 0) AS version,
      CASE WHEN v.version = s.version THEN 1 ELSE 0 END AS current, ${newestColumn}, ${sealedColumns},
      coalesce(v.revision, 0) AS revision,
      (SELECT n.note FROM revision_notes n WHERE n.env_id = s.env_id AND n.revision = v.revision) AS note,
      coalesce(v.value_bytes, 0) AS value_bytes, coalesce(v.created_at, s.created_at) AS created_at,
      coalesce(v.created_by, '') AS created_by, v.destroyed_at AS destroyed_at, ${dueColumns}
    FROM secrets s LEFT JOIN secret_versions v ON v.secret_id = s.id ${joinDue}
    WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL
      AND s.key >= ${"key"} AND (s.key > ${"key"} OR v.version > ${"version"})
    ORDER BY s.key, v.version LIMIT ${"limit"}`
)
