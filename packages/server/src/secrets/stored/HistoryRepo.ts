import { type EnvId, SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"
import { Newest, newestColumn, newestVersion, sealedColumns, sealedFields, versionColumns } from "./Columns.js"

const CurrentRow = Schema.Struct({ id: SecretId, version: Schema.Number, newest: Newest })

const RemovedRow = Schema.Struct({
  ...CurrentRow.fields,
  value_bytes: Schema.Number,
  created_at: Schema.String
})

const VersionRow = Schema.Struct({
  version: Schema.Number,
  created_at: Schema.String,
  created_by: Schema.String,
  destroyed_at: Schema.NullOr(Schema.String),
  format: Schema.Number
})
export type VersionRow = typeof VersionRow.Type

const WholeVersionRow = Schema.Struct({
  ...VersionRow.fields,
  value_bytes: Schema.Number,
  ...sealedFields
})
export type WholeVersionRow = typeof WholeVersionRow.Type

const ChangeRow = Schema.Struct({
  revision: Schema.Number,
  key: SecretKey,
  version: Schema.Number,
  change: Schema.String,
  created_by: Schema.NullOr(Schema.String),
  created_at: Schema.String
})
export type ChangeRow = typeof ChangeRow.Type

const EarlierRow = Schema.Struct({
  key: SecretKey,
  secret_id: Schema.NullOr(SecretId),
  version: Schema.NullOr(Schema.Number),
  change: Schema.NullOr(Schema.String),
  /** Whether the version has no value any more. */
  destroyed: Schema.Literal(0, 1)
})

const RevisionRow = Schema.Struct({ revision: Schema.Number })

const NoteRow = Schema.Struct({ ...RevisionRow.fields, note: Schema.String })

/** Reads earlier versions, removed secrets and the changes of environments. */
export const historyRepo = Effect.gen(function* () {
  const { all, first } = yield* query
  const pages = yield* allPages

  /** Steps through the distinct keys in byte order with one index lookup each, however long the history is. */
  const changesUpTo = all(EarlierRow)`
      WITH RECURSIVE keys (key, number) AS (
        SELECT min(key), 1 FROM secret_changes WHERE env_id = ${"envId"} AND key > ${"after"}
        UNION ALL
        SELECT (SELECT min(key) FROM secret_changes WHERE env_id = ${"envId"} AND key > keys.key), number + 1 FROM keys
        WHERE key IS NOT NULL AND number < ${"limit"}
      )
      SELECT k.key AS key, c.secret_id AS secret_id, c.version AS version, c.change AS change,
        CASE WHEN v.version IS NULL OR v.destroyed_at IS NOT NULL THEN 1 ELSE 0 END AS destroyed
      FROM keys k LEFT JOIN secret_changes c ON c.env_id = ${"envId"} AND c.key = k.key AND c.revision = (
        SELECT max(revision) FROM secret_changes WHERE env_id = ${"envId"} AND key = k.key AND revision <= ${"revision"})
      LEFT JOIN secret_versions v ON v.secret_id = c.secret_id AND v.version = c.version
      WHERE k.key IS NOT NULL ORDER BY k.key`

  return {
    findCurrent: first(CurrentRow)`
        SELECT s.id AS id, s.version AS version, ${newestColumn} FROM secrets s
        WHERE s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NULL`,

    /** The most recently removed secret of a key. */
    findRemoved: first(RemovedRow)`
        SELECT ${versionColumns}, s.created_at AS created_at FROM secrets s ${newestVersion}
        WHERE s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NOT NULL
        ORDER BY s.removed_revision DESC LIMIT 1`,

    /** The versions of a secret lower than `before`, newest first. */
    versions: all(VersionRow)`
        SELECT version, created_at, created_by, destroyed_at, format FROM secret_versions
        WHERE secret_id = ${"id"} AND version < ${"before"} ORDER BY version DESC LIMIT ${"limit"}`,

    /** As `versions`, with what their values are encrypted to. */
    sealedVersions: all(WholeVersionRow)`
        SELECT v.version AS version, v.created_at AS created_at, v.created_by AS created_by,
          v.destroyed_at AS destroyed_at, v.value_bytes AS value_bytes, ${sealedColumns}
        FROM secret_versions v
        WHERE v.secret_id = ${"id"} AND v.version < ${"before"} ORDER BY v.version DESC LIMIT ${"limit"}`,

    findVersion: first(WholeVersionRow)`
        SELECT v.version AS version, v.created_at AS created_at, v.created_by AS created_by,
          v.destroyed_at AS destroyed_at, v.value_bytes AS value_bytes, ${sealedColumns}
        FROM secret_versions v WHERE v.secret_id = ${"id"} AND v.version = ${"version"}`,

    /**
     * The changes of the last `revisions` revisions lower than `before`, by descending revision and key; at most `limit`. Steps
     * through the revisions with one index lookup each, however many changes they have.
     */
    changes: all(ChangeRow)`
        WITH RECURSIVE page (revision, number) AS (
          SELECT max(revision), 1 FROM secret_changes WHERE env_id = ${"envId"} AND revision < ${"before"}
          UNION ALL
          SELECT (
            SELECT max(revision) FROM secret_changes WHERE env_id = ${"envId"} AND revision < page.revision), number + 1
          FROM page WHERE revision IS NOT NULL AND number < ${"revisions"}
        )
        SELECT revision, key, version, change, created_by, created_at FROM secret_changes
        WHERE env_id = ${"envId"} AND revision < ${"before"} AND revision >= (SELECT min(revision) FROM page)
        ORDER BY revision DESC, key DESC LIMIT ${"limit"}`,

    /** The notes of revisions. */
    notes: all(NoteRow)`
        SELECT revision, note FROM revision_notes
        WHERE env_id = ${"envId"} AND revision BETWEEN ${"from"} AND ${"to"}`,

    /** The revision from which on the history of an environment is complete. */
    wholeSince: first(RevisionRow)`SELECT revision FROM secret_changes_since WHERE env_id = ${"envId"}`,

    /** The last change of each key up to a revision; nulls for a key that was created later. */
    changesUpTo: (envId: EnvId, revision: number) =>
      pages(
        "",
        (after, limit) => changesUpTo({ envId, revision, after, limit }),
        ({ key }): string => key
      )
  } as const
})
