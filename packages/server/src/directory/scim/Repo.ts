import { OrgId, ScimTokenId } from "@coffer/domain/base/Ids"
import { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, fenceCheck, query, sql } from "../../database/Query.js"
import { makePurge } from "../../database/jobs/Purge.js"

const TokenRow = Schema.Struct({
  id: ScimTokenId,
  hint: Schema.String,
  created_by: Schema.String,
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.Number)
})
export type TokenRow = typeof TokenRow.Type

const BearerRow = Schema.Struct({
  id: ScimTokenId,
  org_id: OrgId,
  org_name: OrgName,
  last_used_at: Schema.NullOr(Schema.String)
})

const CountsRow = Schema.Struct({ users: Schema.Number, groups: Schema.Number })

export const scimTokenPurge = makePurge({
  table: "scim_tokens",
  ended: sql`expires_at IS NOT NULL AND expires_at <= ${databaseTime}`
})

/** The tokens `t` that count: a replaced one until its end, by the database's clock. */
const live = sql`(t.expires_at IS NULL OR t.expires_at > ${databaseTime})`

const bearer = sql`
  SELECT t.id AS id, o.id AS org_id, o.name AS org_name, t.last_used_at AS last_used_at
  FROM scim_tokens t JOIN organizations o ON o.id = t.org_id AND o.removed_at IS NULL
  WHERE ${fenceCheck} AND ${live}`

export const scimRepo = Effect.map(
  query,
  ({ all, first, insert, one, write }) =>
    ({
      /** The token of a request, with its organization: at the name on the path alone. */
      byHash: first(BearerRow)`${bearer} AND t.token_hash = ${"hash"} AND o.name = ${"org"}`,

      byId: first(BearerRow)`${bearer} AND t.id = ${"id"}`,

      /** The current token first. There are two at most. */
      tokens: all(TokenRow)`
        SELECT t.id AS id, t.hint AS hint, t.created_by AS created_by, t.created_at AS created_at,
          t.last_used_at AS last_used_at, t.expires_at AS expires_at
        FROM scim_tokens t WHERE t.org_id = ${"orgId"} AND ${live}
        ORDER BY CASE WHEN t.expires_at IS NULL THEN 0 ELSE 1 END, t.id DESC`,

      counts: one(CountsRow)`
        SELECT (SELECT count(*) FROM scim_users WHERE org_id = ${"orgId"}) AS users,
          (SELECT count(*) FROM scim_groups WHERE org_id = ${"orgId"}) AS groups`,

      insert: insert("scim_tokens", ["id", "org_id", "token_hash", "hint", "created_by", "created_at"]),

      /** Ends those that were replaced before. */
      removeReplaced: write`DELETE FROM scim_tokens WHERE org_id = ${"orgId"} AND expires_at IS NOT NULL`,

      replace: write`
        UPDATE scim_tokens SET expires_at = ${databaseTime} + ${"grace"}
        WHERE org_id = ${"orgId"} AND expires_at IS NULL`,

      removeAll: write`DELETE FROM scim_tokens WHERE org_id = ${"orgId"}`,

      touch: write`UPDATE scim_tokens SET last_used_at = ${"now"} WHERE id = ${"id"}`
    }) as const
)
