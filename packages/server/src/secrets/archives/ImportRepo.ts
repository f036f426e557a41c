import { EnvId, ImportId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, sql } from "../../database/Query.js"
import { versionColumns } from "../stored/ChangesRepo.js"
import { sealedFields, sealedColumns } from "../stored/Columns.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const ImportRow = Schema.Struct({
  id: ImportId,
  org_id: OrgId,
  name: OrgName,
  /** Grows with every call that writes. */
  revision: Schema.Number,
  /** How many records of its structure are written. */
  written: Schema.Number,
  created_at: Schema.String,
  expires_at: Schema.Number
})
export type ImportRow = typeof ImportRow.Type

const PlaceRow = Schema.Struct({
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName,
  revision: Schema.Number,
  secret_count: Schema.Number,
  value_bytes: Schema.Number
})
/** An environment of a hidden organization. */
export type ImportedPlace = typeof PlaceRow.Type

const StoredRow = Schema.Struct({
  version: Schema.Number,
  revision: Schema.Number,
  ...sealedFields,
  created_at: Schema.String,
  created_by: Schema.String,
  destroyed_at: Schema.NullOr(Schema.String)
})
export type StoredVersion = typeof StoredRow.Type

const SecretRow = Schema.Struct({
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  /** The revision of its last version. */
  revision: Schema.Number,
  value_bytes: Schema.Number,
  /** Whether its last version came as the current one, with a due date or use rules. */
  ended: Schema.Literal(0, 1)
})
/** A secret as far as its versions have come. */
export type StoredSecret = typeof SecretRow.Type
const StructureRow = Schema.Struct({ structure: Schema.String })
const FoundRow = Schema.Struct({ found: Schema.Number })

const imports = sql`
  SELECT i.id AS id, i.org_id AS org_id, i.name AS name, i.revision AS revision, i.written AS written,
    i.created_at AS created_at, i.expires_at AS expires_at
  FROM imports i WHERE i.expires_at > ${databaseTime}`

const places = sql`
  SELECT p.id AS project_id, p.name AS project, e.id AS env_id, e.name AS env, e.revision AS revision,
    e.secret_count AS secret_count, e.value_bytes AS value_bytes
  FROM projects p JOIN environments e ON e.project_id = p.id WHERE p.org_id = ${"orgId"}`

/** Imports, and what they have written so far of their organizations, which are hidden as removed ones are. */
export const importRepo = Effect.map(
  query,
  ({ all, first, insert, one, returning, write }) =>
    ({
      find: first(ImportRow)`${imports} AND i.id = ${"id"} AND i.user_id = ${"userId"}`,

      /** The lines of its structure. */
      structure: one(StructureRow)`SELECT structure FROM imports WHERE id = ${"id"}`,

      count: one(CountRow)`
        SELECT count(*) AS count FROM imports i WHERE i.user_id = ${"userId"} AND i.expires_at > ${databaseTime}`,

      insert: write`
        INSERT INTO imports (id, org_id, user_id, name, structure, revision, created_at, expires_at)
        VALUES (${"id"}, ${"orgId"}, ${"userId"}, ${"name"}, ${"structure"}, 0, ${"now"},
          ${databaseTime} + ${"lifetime"})`,

      /** Notes that a call writes. No row if the import has ended. */
      touch: returning(IdRow)`
        UPDATE imports SET revision = revision + 1 WHERE id = ${"id"} AND expires_at > ${databaseTime} RETURNING id`,

      /** Notes how many records are written, and lets an import last. */
      advance: write`
        UPDATE imports SET written = ${"written"}, expires_at = ${databaseTime} + ${"lifetime"} WHERE id = ${"id"}`,

      /** Notes how many records are written. */
      note: write`UPDATE imports SET written = ${"written"} WHERE id = ${"id"}`,

      /** Ends an import: it cannot be continued, and is removed later. */
      end: write`UPDATE imports SET expires_at = 0 WHERE id = ${"id"}`,

      /** Lets the organization be what it is now. */
      remove: returning(IdRow)`
        DELETE FROM imports
        WHERE id = ${"id"} AND revision = ${"revision"} AND expires_at > ${databaseTime} RETURNING id`,

      nameTaken: first(FoundRow)`
        SELECT 1 AS found FROM organizations WHERE name = ${"name"} AND removed_at IS NULL`,

      insertOrganization: write`
        INSERT INTO organizations (id, name, passkey_recovery, unused_access_mail, created_at, updated_at, removed_at)
        VALUES (${"id"}, ${"name"}, ${"passkey_recovery"}, ${"unused_access_mail"}, ${"now"}, ${"now"}, ${"now"})`,

      reveal: write`
        UPDATE organizations SET removed_at = NULL, name = ${"name"}, created_at = ${"now"}, updated_at = ${"now"},
          revision = revision + 1
        WHERE id = ${"id"}`,

      project: first(IdRow)`SELECT id FROM projects WHERE org_id = ${"orgId"} AND name = ${"name"}`,

      place: first(PlaceRow)`${places} AND p.name = ${"project"} AND e.name = ${"env"}`,

      /** The environments after one. */
      places: all(PlaceRow)`
        ${places} AND p.name >= ${"project"} AND (p.name > ${"project"} OR e.name > ${"env"})
        ORDER BY p.name, e.name LIMIT ${"limit"}`,

      secret: first(SecretRow)`
        SELECT s.id AS id, s.key AS key, s.version AS version, v.revision AS revision, v.value_bytes AS value_bytes,
          CASE WHEN EXISTS (SELECT 1 FROM secret_dues d WHERE d.secret_id = s.id)
            OR EXISTS (SELECT 1 FROM use_rules r WHERE r.secret_id = s.id) THEN 1 ELSE 0 END AS ended
        FROM secrets s JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
        WHERE s.env_id = ${"envId"} AND s.key = ${"key"} AND s.removed_at IS NULL`,

      version: first(StoredRow)`
        SELECT v.version AS version, v.revision AS revision, ${sealedColumns}, v.created_at AS created_at, v.created_by AS created_by,
          v.destroyed_at AS destroyed_at
        FROM secret_versions v WHERE v.secret_id = ${"secretId"} AND v.version = ${"version"}`,

      advanceSecret: write`UPDATE secrets SET version = ${"version"}, updated_at = ${"at"} WHERE id = ${"id"}`,

      /** The number of secrets whose current version has no value. */
      withoutValue: one(CountRow)`
        SELECT count(*) AS count FROM projects p JOIN environments e ON e.project_id = p.id JOIN secrets s ON s.env_id = e.id
        JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version
        WHERE p.org_id = ${"orgId"} AND v.destroyed_at IS NOT NULL`,

      /** The environments with secrets after one, in the order of ids. */
      filled: all(IdRow)`
        SELECT e.id AS id FROM projects p JOIN environments e ON e.project_id = p.id
        WHERE p.org_id = ${"orgId"} AND e.revision > 0 AND e.id > ${"after"} ORDER BY e.id LIMIT ${"limit"}`,

      /** The history of an environment is whole from here on: before, it lacks the keys that were removed. */
      beginHistories: write`
        INSERT INTO secret_changes_since (env_id, revision)
        SELECT e.id, e.revision FROM projects p JOIN environments e ON e.project_id = p.id
        WHERE p.org_id = ${"orgId"} AND e.revision > 0 AND e.id > ${"after"} AND e.id <= ${"last"}
        ON CONFLICT (env_id) DO UPDATE SET revision = excluded.revision`,

      insertVersions: insert("secret_versions", [...versionColumns, "destroyed_at"]),

      /** The same note may come with each version of its revision. */
      insertNotes: insert(
        "revision_notes",
        ["env_id", "revision", "note"],
        sql`ON CONFLICT (env_id, revision) DO NOTHING`
      )
    }) as const
)
