import { TargetId } from "@coffer/domain/base/Ids"
import { SecretKey, TargetName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const TargetRow = Schema.Struct({
  id: TargetId,
  name: TargetName,
  kind: Schema.String,
  credential_key: SecretKey,
  terms: Schema.String,
  pushed_revision: Schema.NullOr(Schema.Number),
  pushed_at: Schema.NullOr(Schema.String),
  owned: Schema.Number,
  created_by: Schema.String,
  created_at: Schema.String
})
export type TargetRow = typeof TargetRow.Type

const OwnRow = Schema.Struct({ name: Schema.String, digest: Schema.NullOr(Schema.String) })
/** A key of a platform that this server wrote. Without a digest it was sent, and perhaps not taken. */
export type OwnRow = typeof OwnRow.Type

const TokenRow = Schema.Struct({ push_token: Schema.Number })
const KeyRow = Schema.Struct({ credential_key: SecretKey })

const columns = sql`t.id AS id, t.name AS name, t.kind AS kind, t.credential_key AS credential_key, t.terms AS terms,
  t.pushed_revision AS pushed_revision, t.pushed_at AS pushed_at, t.created_by AS created_by, t.created_at AS created_at,
  (SELECT count(*) FROM target_keys k WHERE k.target_id = t.id) AS owned`

/** How long a push may be silent before another one may begin. */
const pushMillis = 60_000

/** Targets, and the keys there that this server wrote. */
export const targetsRepo = Effect.map(query, ({ all, first, insert, one, returning, write }) => {
  const insertKeys = insert(
    "target_keys",
    ["target_id", "name", "secret_key", "digest", "pushed_at"],
    sql`ON CONFLICT (target_id, name) DO UPDATE SET secret_key = excluded.secret_key, digest = excluded.digest,
      pushed_at = excluded.pushed_at`
  )
  const claim = returning(TokenRow)`
    UPDATE targets SET push_token = push_token + 1, push_until = ${databaseTime} + ${"millis"}
    WHERE id = ${"id"} AND (push_until IS NULL OR push_until <= ${databaseTime}) RETURNING push_token`
  const extend = returning(TokenRow)`
    UPDATE targets SET push_until = ${databaseTime} + ${"millis"}
    WHERE id = ${"id"} AND push_token = ${"token"} AND push_until IS NOT NULL RETURNING push_token`
  return {
    list: all(TargetRow)`SELECT ${columns} FROM targets t WHERE t.env_id = ${"envId"} ORDER BY t.name`,

    find: first(TargetRow)`SELECT ${columns} FROM targets t WHERE t.env_id = ${"envId"} AND t.name = ${"name"}`,

    count: one(CountRow)`SELECT count(*) AS count FROM targets WHERE env_id = ${"envId"}`,

    /** The keys of an environment that authenticate at its targets. */
    credentials: all(KeyRow)`SELECT credential_key FROM targets WHERE env_id = ${"envId"}`,

    insert: insert("targets", [
      ...(["id", "env_id", "name", "kind", "credential_key", "terms"] as const),
      ...(["created_by", "creator_id", "created_at"] as const)
    ]),

    remove: write`DELETE FROM targets WHERE id = ${"id"}`,

    own: all(OwnRow)`SELECT name, digest FROM target_keys WHERE target_id = ${"id"} ORDER BY name`,

    insertKeys,

    forgetKey: write`DELETE FROM target_keys WHERE target_id = ${"id"} AND name = ${"name"}`,

    /** Forgets a key that was sent and certainly not taken, unless it was there before. */
    forgetUntaken: write`DELETE FROM target_keys WHERE target_id = ${"id"} AND name = ${"name"} AND digest IS NULL`,

    /** Begins a push. Returns its token, or no row while another one goes on. */
    claim: ({ id }: { readonly id: TargetId }) => claim({ id, millis: pushMillis }),

    /** Lets a push go on. Returns no row if another one began, or the target is gone. */
    extend: ({ id, token }: { readonly id: TargetId; readonly token: number }) =>
      extend({ id, token, millis: pushMillis }),

    end: write`UPDATE targets SET push_until = NULL WHERE id = ${"id"} AND push_token = ${"token"}`,

    pushed: write`
      UPDATE targets SET pushed_revision = ${"revision"}, pushed_at = ${"now"}
      WHERE id = ${"id"} AND push_token = ${"token"}`
  } as const
})
