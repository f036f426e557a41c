import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"
import { makePurge } from "../../database/jobs/Purge.js"

const LifetimeRow = Schema.Struct({ created_at: Schema.String, expires_at: Schema.NullOr(Schema.String) })

export const keySessionPurge = makePurge({ table: "key_sessions", ended: sql`expires_at <= ${"until"}` })

/** The sessions of keys, and how long each kind of credential lasts. */
export const keySessionsRepo = Effect.map(query, ({ first, returning, write }) => ({
  insert: write`
    INSERT INTO key_sessions (id, key_id, token_hash, ip_address, created_at, expires_at)
    VALUES (${"id"}, ${"keyId"}, ${"hash"}, ${"ip"}, ${"now"}, ${"expiresAt"})`,

  renew: returning(IdRow)`UPDATE key_sessions SET expires_at = ${"expiresAt"} WHERE id = ${"id"} RETURNING id`,

  /** A session ends with its key. */
  ofSession: first(LifetimeRow)`
    SELECT s.created_at AS created_at,
      CASE WHEN k.expires_at < s.expires_at THEN k.expires_at ELSE s.expires_at END AS expires_at
    FROM key_sessions s JOIN api_keys k ON k.id = s.key_id WHERE s.id = ${"id"}`,

  ofKey: first(LifetimeRow)`SELECT created_at, expires_at FROM api_keys WHERE id = ${"id"}`,

  ofFederation: first(LifetimeRow)`SELECT created_at, expires_at FROM federated_sessions WHERE id = ${"id"}`
}))
