import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"

const HeadRow = Schema.Struct({
  revision: Schema.Number,
  created_at: Schema.String,
  created_by: Schema.NullOr(Schema.String),
  note: Schema.NullOr(Schema.String)
})
export type HeadRow = typeof HeadRow.Type

const ChangedKeyRow = Schema.Struct({ key: SecretKey, version: Schema.Number, change: Schema.String })
export type ChangedKeyRow = typeof ChangedKeyRow.Type

/** Reads revisions apart from the keys that they changed: a revision may have thousands. */
export const projectHistoryRepo = Effect.map(query, ({ all }) => ({
  /** The revisions of an environment below one, newest first. Each takes two index lookups, however many keys it changed. */
  heads: all(HeadRow)`
    WITH RECURSIVE heads (revision, number) AS (
      SELECT max(revision), 1 FROM secret_changes WHERE env_id = ${"envId"} AND revision < ${"before"}
      UNION ALL
      SELECT (SELECT max(revision) FROM secret_changes WHERE env_id = ${"envId"} AND revision < heads.revision),
        number + 1 FROM heads
      WHERE revision IS NOT NULL AND number < ${"limit"}
    )
    SELECT h.revision AS revision, c.created_at AS created_at, c.created_by AS created_by,
      (SELECT note FROM revision_notes WHERE env_id = ${"envId"} AND revision = h.revision) AS note
    FROM heads h
    JOIN secret_changes c ON c.env_id = ${"envId"} AND c.revision = h.revision AND c.key = (
      SELECT min(key) FROM secret_changes WHERE env_id = ${"envId"} AND revision = h.revision)
    WHERE h.revision IS NOT NULL ORDER BY h.revision DESC`,

  keys: all(ChangedKeyRow)`
    SELECT key, version, change FROM secret_changes
    WHERE env_id = ${"envId"} AND revision = ${"revision"} ORDER BY key`
}))
