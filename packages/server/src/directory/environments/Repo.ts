import { type Environment, maxEnvironments } from "@coffer/domain/directory/Environment"
import { EnvId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { recordLimit } from "../../base/Limit.js"
import { timestamp } from "../../base/Time.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

export const environmentLimit = recordLimit(maxEnvironments, (max) => `a project has at most ${max} environments`)

/** The position in the project's own order; null if it gives none. */
const position = Schema.NullOr(Schema.Number)

const EnvironmentRow = Schema.Struct({
  id: EnvId,
  name: EnvName,
  position,
  is_protected: Schema.Number,
  expires_at: Schema.NullOr(Schema.Number),
  created_at: Schema.String,
  updated_at: Schema.String
})
type EnvironmentRow = typeof EnvironmentRow.Type

export const RevisionRow = Schema.Struct({
  id: EnvId,
  name: EnvName,
  position,
  is_protected: Schema.Number,
  expires_at: Schema.NullOr(Schema.Number),
  revision: Schema.Number,
  due_revision: Schema.Number,
  secret_count: Schema.Number
})

/** The columns of a `RevisionRow`, of an environment `e`. */
export const revisionColumns = sql`e.id AS id, e.name AS name, e.position AS position, e.protected AS is_protected, e.expires_at AS expires_at,
  e.revision AS revision, e.due_revision AS due_revision, e.secret_count AS secret_count`

/** A live environment of an organization, with the number of its secrets. */
const PlacedEnvironment = Schema.Struct({
  project_id: ProjectId,
  project: ProjectName,
  env_id: EnvId,
  env: EnvName,
  position,
  secrets: Schema.Number
})
export type PlacedEnvironment = typeof PlacedEnvironment.Type

const NameRow = Schema.Struct({ name: EnvName })

/** The field of a response. */
export const positionOf = ({ position }: { readonly position: number | null }): Pick<Environment, "position"> =>
  position === null ? {} : { position }

export const protectionOf = ({ is_protected }: { readonly is_protected: number }): Pick<Environment, "protected"> =>
  is_protected === 1 ? { protected: true } : {}

export const endOf = ({ expires_at }: { readonly expires_at: number | null }): Pick<Environment, "expires_at"> =>
  expires_at === null ? {} : { expires_at: timestamp(expires_at) }

/** The environment of a row. */
export const environmentOf = ({ expires_at, is_protected, position, ...row }: EnvironmentRow): Environment => ({
  ...row,
  ...positionOf({ position }),
  ...protectionOf({ is_protected }),
  ...endOf({ expires_at })
})

const columns = sql`
  SELECT e.id AS id, e.name AS name, e.position AS position, e.protected AS is_protected, e.expires_at AS expires_at,
    e.created_at AS created_at, e.updated_at AS updated_at
  FROM environments e WHERE ${liveEnv}`

export const environmentsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query

  return {
    all: all(EnvironmentRow)`${columns} AND e.project_id = ${"projectId"} ORDER BY e.name`,

    find: first(EnvironmentRow)`${columns} AND e.id = ${"id"}`,

    /** The environments of an organization from a position on, in the order of names; of one project only, if given. */
    ofOrg: all(PlacedEnvironment)`
      SELECT p.id AS project_id, p.name AS project, e.id AS env_id, e.name AS env, e.position AS position, e.secret_count AS secrets
      FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv}
      WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL AND p.name >= ${"project"}
        AND (p.name > ${"project"} OR e.name >= ${"env"})
        AND (CAST(${"onlyId"} AS TEXT) IS NULL OR p.id = ${"onlyId"})
      ORDER BY p.name, e.name LIMIT ${"limit"}`,

    /** The environments with the revisions of their secrets and of their due dates. */
    revisions: all(RevisionRow)`
      SELECT ${revisionColumns} FROM environments e WHERE e.project_id = ${"projectId"} AND ${liveEnv} ORDER BY e.name`,

    /** Those that the project orders itself. */
    ordered: all(NameRow)`
      SELECT e.name AS name FROM environments e
      WHERE e.project_id = ${"projectId"} AND ${liveEnv} AND e.position IS NOT NULL ORDER BY e.position`,

    forgetOrder: write`
      UPDATE environments SET position = NULL WHERE project_id = ${"projectId"} AND position IS NOT NULL`,

    place: write`
      UPDATE environments SET position = ${"position"}
      WHERE project_id = ${"projectId"} AND name = ${"name"} AND removed_at IS NULL`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM environments e WHERE e.project_id = ${"projectId"} AND ${liveEnv}`,

    insert: insert("environments", [
      ...["id", "project_id", "name", "position", "expires_at", "source_id", "created_at", "updated_at"]
    ]),

    /** Sets the end of an environment that has not ended. */
    setEnd: returning(IdRow)`
      UPDATE environments SET expires_at = ${"end"}, updated_at = ${"now"}
      WHERE id = ${"id"} AND removed_at IS NULL AND (expires_at IS NULL OR expires_at > ${databaseTime}) RETURNING id`,

    remove: returning(IdRow)`
      UPDATE environments SET removed_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING id`
  } as const
})
