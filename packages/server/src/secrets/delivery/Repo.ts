import { EnvId, OrgId, TargetId, UserId } from "@coffer/domain/base/Ids"
import { Email, EnvName, OrgName, ProjectName, SecretKey, TargetName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"

const TargetRow = Schema.Struct({
  id: TargetId,
  name: TargetName,
  kind: Schema.String,
  credential_key: SecretKey,
  terms: Schema.String,
  pushed_revision: Schema.NullOr(Schema.Number),
  pushed_at: Schema.NullOr(Schema.String),
  owned: Schema.Number,
  state: Schema.NullOr(Schema.String),
  checked_at: Schema.NullOr(Schema.String),
  automatic: Schema.String,
  pushes_as: Schema.NullOr(Schema.String),
  failures: Schema.Number,
  problem: Schema.NullOr(Schema.String),
  retry_at: Schema.NullOr(Schema.Number),
  paused: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String
})
export type TargetRow = typeof TargetRow.Type

const OwnRow = Schema.Struct({
  name: Schema.String,
  secret_key: SecretKey,
  digest: Schema.NullOr(Schema.String),
  stamp: Schema.NullOr(Schema.String)
})
/** A key of a platform that this server wrote. Without a digest it was sent, and perhaps not taken. */
export type OwnRow = typeof OwnRow.Type

/** A target, with its place and the person by whose rights it does. */
const PlacedRow = Schema.Struct({
  id: TargetId,
  name: TargetName,
  kind: Schema.String,
  failures: Schema.Number,
  automatic: Schema.String,
  paused: Schema.NullOr(Schema.String),
  org_id: OrgId,
  org: OrgName,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName,
  pusher_id: Schema.NullOr(UserId),
  email: Schema.NullOr(Schema.typeSchema(Email)),
  person: Schema.NullOr(Schema.String),
  superadmin: Schema.NullOr(Schema.Number)
})
export type PlacedRow = typeof PlacedRow.Type

const DueRow = Schema.Struct({ id: TargetId, org_id: OrgId })
const id = idRow(TargetId)

const TokenRow = Schema.Struct({ push_token: Schema.Number })
const KeyRow = Schema.Struct({ credential_key: SecretKey })

const columns = sql`t.id AS id, t.name AS name, t.kind AS kind, t.credential_key AS credential_key, t.terms AS terms,
  t.automatic AS automatic, (SELECT u.email FROM users u WHERE u.id = t.pusher_id) AS pushes_as, t.failures AS failures,
  t.state AS state, t.checked_at AS checked_at, t.problem AS problem, t.retry_at AS retry_at, t.paused AS paused,
  t.pushed_revision AS pushed_revision, t.pushed_at AS pushed_at, t.created_by AS created_by, t.created_at AS created_at,
  (SELECT count(*) FROM target_keys k WHERE k.target_id = t.id) AS owned`

/** The live place of a target `t`. */
const placed = sql`
  JOIN environments e ON e.id = t.env_id AND ${liveEnv}
  JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
  JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL`

const isAutomatic = sql`t.automatic <> 'off' AND t.paused IS NULL`

/** Whether an environment whose values the last push has was changed since, or there was no such push. */
const isBehind = sql`(
  NOT EXISTS (SELECT 1 FROM target_sources s WHERE s.target_id = t.id)
  OR EXISTS (
    SELECT 1 FROM target_sources s JOIN environments x ON x.id = s.env_id
    WHERE s.target_id = t.id AND x.revision <> s.revision))`

/** How long a push may be silent before another one may begin. */
export const pushMillis = 60_000

/** Targets, and the keys there that this server wrote. */
export const targetsRepo = Effect.map(query, ({ all, first, insert, one, returning, write }) => {
  const insertKeys = insert(
    "target_keys",
    ["target_id", "name", "secret_key", "digest", "stamp", "pushed_at"],
    sql`ON CONFLICT (target_id, name) DO UPDATE SET secret_key = excluded.secret_key, digest = excluded.digest, stamp = excluded.stamp,
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
      ...(["created_by", "creator_id", "created_at", "automatic", "pusher_id"] as const)
    ]),

    remove: write`DELETE FROM targets WHERE id = ${"id"}`,

    own: all(OwnRow)`SELECT name, secret_key, digest, stamp FROM target_keys WHERE target_id = ${"id"} ORDER BY name`,

    insertKeys,

    forgetKey: write`DELETE FROM target_keys WHERE target_id = ${"id"} AND name = ${"name"}`,

    /** Notes how the platform has a key, unless another push has begun. */
    setStamp: write`
      UPDATE target_keys SET stamp = ${"stamp"} WHERE target_id = ${"id"} AND name = ${"name"}
        AND EXISTS (SELECT 1 FROM targets WHERE id = ${"id"} AND push_token = ${"token"})`,

    /** Forgets a key that was sent and certainly not taken, unless it was there before. */
    forgetUntaken: write`DELETE FROM target_keys WHERE target_id = ${"id"} AND name = ${"name"} AND digest IS NULL`,

    /** Begins a push. Returns its token, or no row while another one goes on. */
    claim: ({ id }: { readonly id: TargetId }) => claim({ id, millis: pushMillis }),

    /** Lets a push go on. Returns no row if another one began, or the target is gone. */
    extend: ({ id, token }: { readonly id: TargetId; readonly token: number }) =>
      extend({ id, token, millis: pushMillis }),

    end: write`UPDATE targets SET push_until = NULL WHERE id = ${"id"} AND push_token = ${"token"}`,

    pushed: returning(id)`
      UPDATE targets SET pushed_revision = ${"revision"}, pushed_at = ${"now"}, failures = 0, problem = ${"problem"}, retry_at = NULL,
        state = ${"state"}, checked_at = ${"now"}, check_at = ${databaseTime} + ${"millis"}
      WHERE id = ${"id"} AND push_token = ${"token"} RETURNING id`,

    forgetSources: write`DELETE FROM target_sources WHERE target_id = ${"id"}`,

    insertSources: insert("target_sources", ["target_id", "env_id", "revision"]),

    /** Changes who pushes, and whether. What stopped the server is over then. */
    setAutomatic: write`
      UPDATE targets SET automatic = ${"automatic"}, paused = ${"paused"}, pusher_id = ${"pusherId"}, failures = 0, retry_at = NULL,
        mailed_at = NULL
      WHERE id = ${"id"}`,

    due: all(DueRow)`
      SELECT t.id AS id, o.id AS org_id FROM targets t ${placed}
      WHERE ${isAutomatic} AND (t.retry_at IS NULL OR t.retry_at <= ${databaseTime}) AND ${isBehind}
      ORDER BY t.id LIMIT ${"limit"}`,

    /** A target by its id, with the person as far as the account is not disabled. */
    placed: first(PlacedRow)`
      SELECT t.id AS id, t.name AS name, t.kind AS kind, t.failures AS failures,
        t.automatic AS automatic, t.paused AS paused, o.id AS org_id, o.name AS org, p.name AS project,
        e.id AS env_id, e.name AS env, u.id AS pusher_id, u.email AS email, u.name AS person, u.superadmin AS superadmin
      FROM targets t ${placed} LEFT JOIN users u ON u.id = t.pusher_id AND u.disabled_at IS NULL
      WHERE t.id = ${"id"}`,

    /** Targets of the server's own pushes where the last one failed, or that are stopped. */
    failing: one(CountRow)`
      SELECT count(*) AS count FROM targets t ${placed}
      WHERE t.automatic <> 'off' AND (t.failures > 0 OR t.paused IS NOT NULL)`,

    postpone: write`UPDATE targets SET retry_at = ${databaseTime} + ${"millis"} WHERE id = ${"id"}`,

    failed: write`
      UPDATE targets SET failures = failures + 1, problem = ${"problem"}, retry_at = ${databaseTime} + ${"millis"} WHERE id = ${"id"}`,

    stop: write`UPDATE targets SET paused = ${"reason"} WHERE id = ${"id"}`,

    /** Notes that the owners are mailed. Returns no row if they were within the given time. */
    noteMail: returning(id)`
      UPDATE targets SET mailed_at = ${databaseTime} WHERE id = ${"id"}
        AND (mailed_at IS NULL OR mailed_at <= ${databaseTime} - ${"millis"}) RETURNING id`,

    checked: write`
      UPDATE targets SET state = ${"state"}, checked_at = ${"now"}, check_at = ${databaseTime} + ${"millis"} WHERE id = ${"id"}`,

    dueChecks: all(DueRow)`
      SELECT t.id AS id, o.id AS org_id FROM targets t ${placed}
      WHERE t.check_at <= ${databaseTime} ORDER BY t.check_at, t.id LIMIT ${"limit"}`,

    /** For a copy of a database: the one that it was copied from goes on. */
    stopAll: write`UPDATE targets SET paused = ${"reason"} WHERE automatic <> 'off' AND paused IS NULL`
  } as const
})
