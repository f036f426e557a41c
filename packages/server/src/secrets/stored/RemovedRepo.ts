import { SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { Newest, newestColumn } from "./Columns.js"

const RemovedRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  newest: Newest,
  updated_at: Schema.String,
  removed_at: Schema.String,
  /** Null if the history of the environment does not go back that far. */
  removed_by: Schema.NullOr(Schema.String),
  /** Whether a new secret has the key. */
  in_use: Schema.Literal(0, 1)
})
export type RemovedRow = typeof RemovedRow.Type

/** Reads the secrets that were removed last under their keys. */
export const removedRepo = Effect.map(query, ({ all }) => ({
  /**
   * The removed keys of an environment from a text on, in byte order. Steps through the distinct keys with one index lookup
   * each, however often a key was removed.
   */
  page: all(RemovedRow)`
    WITH RECURSIVE keys (key, number) AS (
      SELECT min(key), 1 FROM secrets
      WHERE env_id = ${"envId"} AND removed_at IS NOT NULL AND key >= ${"from"}
      UNION ALL
      SELECT (SELECT min(key) FROM secrets
        WHERE env_id = ${"envId"} AND removed_at IS NOT NULL AND key > keys.key), number + 1 FROM keys
      WHERE key IS NOT NULL AND number < ${"limit"}
    )
    SELECT s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at, ${newestColumn},
      s.removed_at AS removed_at, c.created_by AS removed_by, CASE WHEN EXISTS (
        SELECT 1 FROM secrets l WHERE l.env_id = ${"envId"} AND l.key = k.key AND l.removed_at IS NULL
      ) THEN 1 ELSE 0 END AS in_use
    FROM keys k JOIN secrets s ON s.id = (
      SELECT id FROM secrets WHERE env_id = ${"envId"} AND key = k.key AND removed_at IS NOT NULL
      ORDER BY removed_revision DESC LIMIT 1)
    LEFT JOIN secret_changes c ON c.env_id = ${"envId"} AND c.revision = s.removed_revision AND c.key = k.key
    WHERE k.key IS NOT NULL ORDER BY k.key`
}))
