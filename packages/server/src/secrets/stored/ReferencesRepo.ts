import { EnvId, type ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveAs, liveEnv } from "../../access/place/PlaceRow.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { allPages } from "../../database/Pages.js"
import { joined, query, sql } from "../../database/Query.js"

const TargetRow = Schema.Struct({ target_env: EnvName, target_key: SecretKey })
export type TargetRow = typeof TargetRow.Type

const EdgeRow = Schema.Struct({ id: SecretId, env: EnvName, key: SecretKey, ...TargetRow.fields })
export type EdgeRow = typeof EdgeRow.Type

const DependentRow = Schema.Struct({ env_id: EnvId, env: EnvName, key: SecretKey })
export type DependentRow = typeof DependentRow.Type

const FollowedRow = Schema.Struct({ ...EdgeRow.fields, found: Schema.Literal(0, 1) })
/** A reference, and whether the secret exists that it names. */
export type FollowedRow = typeof FollowedRow.Type

const TargetEnvRow = Schema.Struct({ env: EnvName })
const FoundRow = Schema.Struct({ found: Schema.Number })

/** Joins the secret `s` and the environment `e` of a reference `r` of the current version of an existing secret. */
const live = sql`
  JOIN secrets s ON s.id = r.secret_id AND s.version = r.version AND s.removed_at IS NULL
  JOIN environments e ON e.id = r.env_id AND ${liveEnv}`

/** Whether secrets of environment `e` refer to other environments. */
export const refersColumn = sql`CASE WHEN EXISTS (
    SELECT 1 FROM secret_references r
    JOIN secrets s ON s.id = r.secret_id AND s.version = r.version AND s.removed_at IS NULL
    WHERE r.env_id = e.id AND r.target_env <> e.name) THEN 1 ELSE 0 END AS refers`

/** How many versions one statement finds the targets of. */
const versionsAtOnce = 16
const ofVersions = joined(
  Array.makeBy(versionsAtOnce, (index) => sql`(secret_id = ${`id${index}`} AND version = ${`version${index}`})`),
  sql` OR `
)

/** Which secrets refer to which. */
export const referencesRepo = Effect.gen(function* () {
  const { all, first, insert } = yield* query
  const pages = yield* allPages

  const edges = all(EdgeRow)`
      SELECT s.id AS id, e.name AS env, s.key AS key, r.target_env AS target_env, r.target_key AS target_key
      FROM secret_references r ${live}
      WHERE r.project_id = ${"projectId"}
        AND (r.target_env, r.target_key, r.secret_id) > (${"env"}, ${"key"}, ${"id"})
      ORDER BY r.target_env, r.target_key, r.secret_id LIMIT ${"limit"}`

  const followed = all(FollowedRow)`
      SELECT s.id AS id, e.name AS env, s.key AS key, r.target_env AS target_env, r.target_key AS target_key,
        CASE WHEN EXISTS (
          SELECT 1 FROM environments o JOIN secrets t ON t.env_id = o.id AND t.key = r.target_key AND t.removed_at IS NULL
          WHERE o.project_id = r.project_id AND o.name = r.target_env AND ${liveAs("o")}) THEN 1 ELSE 0 END AS found
      FROM secret_references r ${live}
      WHERE r.project_id = ${"projectId"}
        AND (r.target_env, r.target_key, r.secret_id) > (${"env"}, ${"key"}, ${"id"})
      ORDER BY r.target_env, r.target_key, r.secret_id LIMIT ${"limit"}`

  const placeOf = ({ id, target_env, target_key }: EdgeRow): Readonly<Record<"env" | "key" | "id", string>> => ({
    env: target_env,
    key: target_key,
    id
  })

  const targets = all(TargetRow)`
      SELECT target_env, target_key FROM secret_references
      WHERE secret_id = ${"id"} AND version = ${"version"} ORDER BY target_env, target_key`

  const targetsOfSome = all(TargetRow)`SELECT target_env, target_key FROM secret_references WHERE ${ofVersions}`

  return {
    insert: insert("secret_references", ["secret_id", "version", "env_id", "project_id", "target_env", "target_key"]),

    /** Returns the targets of a version of a secret. */
    targets,

    /** Returns the targets of some versions of secrets. */
    targetsOf: (versions: ReadonlyArray<{ readonly id: SecretId; readonly version: number }>) =>
      Effect.map(
        forEachInSlices(Array.chunksOf(versions, versionsAtOnce), (some) => {
          const [first] = some
          if (some.length === 1) return targets({ id: first.id, version: first.version })
          // The last statement repeats a version, so that one text serves any number of versions.
          const values = Array.makeBy(versionsAtOnce, (index) => some[index] ?? first).flatMap(
            ({ id, version }, index) => [[`id${index}`, id] as const, [`version${index}`, version] as const]
          )
          return targetsOfSome(Object.fromEntries<string | number>(values))
        }),
        (rows) => rows.flat()
      ),

    /** The first row of anything that ever referred to an environment. */
    anyTo: first(FoundRow)`
        SELECT 1 AS found FROM secret_references
        WHERE project_id = ${"projectId"} AND target_env = ${"env"} LIMIT 1`,

    /** The secrets that refer to a key, by environment and key. */
    dependents: all(DependentRow)`
        SELECT e.id AS env_id, e.name AS env, s.key AS key FROM secret_references r ${live}
        WHERE r.project_id = ${"projectId"} AND r.target_env = ${"env"} AND r.target_key = ${"key"}
        ORDER BY e.name, s.key LIMIT ${"limit"}`,

    /** The secrets that refer to those of an environment, by environment and key. */
    dependentsOfEnv: all(DependentRow)`
        SELECT DISTINCT e.id AS env_id, e.name AS env, s.key AS key FROM secret_references r ${live}
        JOIN secrets t ON t.env_id = ${"envId"} AND t.key = r.target_key AND t.removed_at IS NULL
        WHERE r.project_id = ${"projectId"} AND r.target_env = ${"env"}
        ORDER BY e.name, s.key LIMIT ${"limit"}`,

    /** The other environments that secrets of an environment refer to. */
    targetEnvironments: all(TargetEnvRow)`
        SELECT DISTINCT r.target_env AS env FROM secret_references r ${live}
        WHERE r.env_id = ${"envId"} AND r.target_env <> e.name ORDER BY r.target_env`,

    /** All references of a project, at most about `enough`. */
    edges: (projectId: ProjectId, enough: number) =>
      pages({ env: "", key: "", id: "" }, (after, limit) => edges({ projectId, ...after, limit }), placeOf, enough),

    /** The same references, each with whether the secret exists that it names. */
    followed: (projectId: ProjectId, enough: number) =>
      pages({ env: "", key: "", id: "" }, (after, limit) => followed({ projectId, ...after, limit }), placeOf, enough)
  } as const
})
