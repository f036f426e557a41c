import { EnvId, OrgId, RemovedId } from "@coffer/domain/base/Ids"
import { Email, EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { maxRemoved } from "@coffer/domain/directory/Removed"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { acceptedMember } from "../../access/place/PlaceRow.js"
import { envsIn, restorable } from "../../access/place/RemovedPlaces.js"
import { databaseTime, query, type Sql, sql } from "../../database/Query.js"
import { trashColumns, TrashRow } from "../../directory/trash/Settling.js"
import { IdRow } from "../../database/Rows.js"

const RemovedRow = Schema.Struct({
  id: RemovedId,
  name: Schema.String,
  is_protected: Schema.Literal(0, 1),
  removed_by: Schema.String,
  removed_at: Schema.Number,
  restorable_until: Schema.Number
})
export type RemovedRow = typeof RemovedRow.Type

const OwnerRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const EnvRow = Schema.Struct({ id: EnvId })
const SecretRow = Schema.Struct({ id: Schema.String, key: Schema.String, removed_revision: Schema.Number })
const VersionRow = Schema.Struct({ version: Schema.Number, wrapped_key: Schema.Uint8ArrayFromSelf })
const RestoredOrg = Schema.Struct({ id: OrgId, name: OrgName })
const RestoredProject = Schema.Struct({ id: Schema.String, name: ProjectName })
const RestoredEnv = Schema.Struct({ id: EnvId, name: EnvName })

/** The protected environments that come back with a removed place, as one bit. */
const protectedBit = (envs: Sql<never>) => sql`CASE WHEN EXISTS (${envs}) THEN 1 ELSE 0 END AS is_protected`

const columns = (envs: Sql<never>) => sql`
  t.place_id AS id, t.name AS name, ${protectedBit(envs)}, t.removed_by AS removed_by, t.removed_at AS removed_at,
  t.restorable_until AS restorable_until`

const named = sql`(CAST(${"name"} AS TEXT) IS NULL OR t.name = ${"name"})`
const newest = sql([`ORDER BY t.removed_at DESC, t.place_id DESC LIMIT ${maxRemoved}`])

/** Removed places, and what restores and erases them. */
export const trashRepo = Effect.map(query, ({ all, first, returning, write }) => ({
  organizations: all(RemovedRow)`
    SELECT ${columns(sql`
      SELECT 1 FROM projects p JOIN environments e ON e.project_id = p.id AND e.removed_at IS NULL AND e.protected = 1
      WHERE p.org_id = t.place_id AND p.removed_at IS NULL`)}
    FROM trash t WHERE t.kind = 'org' AND ${restorable} AND ${named} AND (${"all"} = 1 OR EXISTS (
      SELECT 1 FROM members m
      WHERE m.org_id = t.place_id AND m.user_id = ${"userId"} AND m.role = 'owner' AND m.removed_at IS NULL))
    ${newest}`,

  projects: all(RemovedRow)`
    SELECT ${columns(sql`
      SELECT 1 FROM environments e WHERE e.project_id = t.place_id AND e.removed_at IS NULL AND e.protected = 1`)}
    FROM trash t WHERE t.kind = 'project' AND t.org_id = ${"orgId"} AND ${restorable} AND ${named} ${newest}`,

  environments: all(RemovedRow)`
    SELECT ${columns(sql`SELECT 1 FROM environments e WHERE e.id = t.place_id AND e.protected = 1`)}
    FROM trash t
    WHERE t.kind = 'env' AND t.org_id = ${"orgId"} AND t.project_id = ${"projectId"} AND ${restorable} AND ${named}
    ${newest}`,

  /** A place that can still be restored where it was. */
  find: first(TrashRow)`
    SELECT ${trashColumns} FROM trash t
    WHERE t.place_id = ${"id"} AND t.kind = ${"kind"} AND t.org_id = ${"orgId"}
      AND (CAST(${"projectId"} AS TEXT) IS NULL OR t.project_id = ${"projectId"}) AND ${restorable}`,

  restoreOrganization: returning(RestoredOrg)`
    UPDATE organizations SET removed_at = NULL, name = ${"name"}, updated_at = ${"now"}, revision = revision + 1
    WHERE id = ${"id"} AND removed_at IS NOT NULL RETURNING id, name`,

  restoreProject: returning(RestoredProject)`
    UPDATE projects SET removed_at = NULL, name = ${"name"}, updated_at = ${"now"}, revision = revision + 1
    WHERE id = ${"id"} AND removed_at IS NOT NULL RETURNING id, name`,

  restoreEnvironment: returning(RestoredEnv)`
    UPDATE environments SET removed_at = NULL, name = ${"name"}, updated_at = ${"now"}, revision = revision - 1
    WHERE id = ${"id"} AND removed_at IS NOT NULL RETURNING id, name`,

  forget: write`DELETE FROM trash WHERE place_id = ${"id"}`,

  owners: all(OwnerRow)`
    SELECT u.email AS email FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
    WHERE m.org_id = ${"orgId"} AND m.role = 'owner' AND ${acceptedMember} ORDER BY u.email`,

  /** Lets nothing bring a place back any more. */
  giveUp: returning(IdRow)`
    UPDATE trash SET erasing = 1 WHERE place_id = ${"id"} AND erasing = 0 RETURNING place_id AS id`,

  /** The same for a place whose time is over. */
  end: returning(IdRow)`
    UPDATE trash SET erasing = 1 WHERE place_id = ${"id"} AND erasing = 0 AND restorable_until <= ${databaseTime}
    RETURNING place_id AS id`,

  isErasing: first(IdRow)`SELECT t.place_id AS id FROM trash t WHERE t.place_id = ${"id"} AND t.erasing = 1`,

  /** The places to work on after one: whose time is over, whose values go, or with something left to end. */
  due: all(TrashRow)`
    SELECT ${trashColumns} FROM trash t
    WHERE (t.settled = 0 OR t.erasing = 1 OR t.restorable_until <= ${databaseTime}) AND t.place_id > ${"after"}
    ORDER BY t.place_id LIMIT ${"limit"}`,

  environmentsIn: all(EnvRow)`
    SELECT b.id AS id FROM ${envsIn} WHERE b.id > ${"after"} ORDER BY b.id LIMIT ${"limit"}`,

  /** The secrets of an environment after a key, in the order of an index. */
  secrets: all(SecretRow)`
    SELECT s.id AS id, s.key AS key, 0 AS removed_revision FROM secrets s
    WHERE s.env_id = ${"envId"} AND s.removed_at IS NULL AND s.key > ${"key"} ORDER BY s.key LIMIT ${"limit"}`,

  removedSecrets: all(SecretRow)`
    SELECT s.id AS id, s.key AS key, s.removed_revision AS removed_revision FROM secrets s
    WHERE s.env_id = ${"envId"} AND s.removed_at IS NOT NULL AND (s.key, s.removed_revision) > (${"key"}, ${"revision"})
    ORDER BY s.key, s.removed_revision LIMIT ${"limit"}`,

  versions: all(VersionRow)`
    SELECT v.version AS version, v.wrapped_key AS wrapped_key FROM secret_versions v
    WHERE v.secret_id = ${"id"} AND v.destroyed_at IS NULL AND v.version > ${"after"} ORDER BY v.version LIMIT ${"limit"}`,

  /** Ends the keys that sign an organization's webhooks. */
  forgetSigningKeys: write`
    DELETE FROM wrapped_keys WHERE name LIKE 'webhook/%' AND substr(name, 9, 36) IN (
      SELECT w.id FROM webhooks w WHERE w.org_id = ${"id"})`,

  /** A lease of a place: its end needs the password of its connection, a value there. */
  lease: first(IdRow)`SELECT l.id AS id FROM ${envsIn} JOIN leases l ON l.env_id = b.id LIMIT 1`,

  /** Ends the passwords that rotations and leases have drawn in a place. */
  forgetDrawnPasswords: write`
    DELETE FROM wrapped_keys WHERE name IN (
      SELECT 'rotation/' || r.id || '/' || r.draw FROM ${envsIn} JOIN rotations r ON r.env_id = b.id
      UNION ALL SELECT 'lease/' || l.id FROM ${envsIn} JOIN leases l ON l.env_id = b.id)`,

  /** Forgets what was removed from a place before it. */
  forgetWithin: returning(IdRow)`
    DELETE FROM trash WHERE place_id IN (
      SELECT t.place_id FROM trash t
      WHERE t.place_id <> ${"id"} AND (t.project_id = ${"id"} OR t.org_id = ${"id"}) LIMIT ${"limit"})
    RETURNING place_id AS id`
}))
