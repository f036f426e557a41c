import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import { EnvId, type OrgId } from "@coffer/domain/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/PlaceRow.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { query, type Sql, sql } from "../../database/Query.js"
import { projectsRepo } from "../projects/Repo.js"

const CountRow = Schema.Struct({ count: Schema.Number })
const EnvRow = Schema.Struct({ id: EnvId })

/**
 * How many records an organization has, as an archive counts them, also of one that is hidden. Rules of requests do not count. Many
 * short statements, because one for all would hold the event loop.
 */
export const archiveCounts = Effect.gen(function* () {
  const { all, one } = yield* query
  const projects = yield* projectsRepo

  const ofOrg = (table: Sql<never>) => one(CountRow)`
    SELECT count(*) AS count FROM ${table} t WHERE t.org_id = ${"orgId"} AND t.removed_at IS NULL`
  const members = ofOrg(sql`members`)
  const groups = ofOrg(sql`groups`)
  const accounts = ofOrg(sql`service_accounts`)
  const webhooks = ofOrg(sql`webhooks`)
  const rules = one(CountRow)`
    SELECT count(*) AS count FROM acl_rules r
    WHERE r.org_id = ${"orgId"} AND r.removed_at IS NULL AND r.request_id IS NULL`

  const declared = one(CountRow)`SELECT count(*) AS count FROM declared_keys WHERE project_id = ${"projectId"}`
  const environments = all(EnvRow)`
    SELECT e.id AS id FROM environments e WHERE e.project_id = ${"projectId"} AND ${liveEnv}`

  const live = sql`s.env_id = ${"envId"} AND s.removed_at IS NULL`
  const secrets = one(CountRow)`SELECT count(*) AS count FROM secrets s WHERE ${live}`
  // A CROSS JOIN makes SQLite begin with the secrets of the environment.
  const versions = one(CountRow)`
    SELECT count(*) AS count FROM secrets s CROSS JOIN secret_versions v WHERE v.secret_id = s.id AND ${live}`
  const useRules = one(CountRow)`
    SELECT count(*) AS count FROM secrets s CROSS JOIN use_rules r
    WHERE r.secret_id = s.id AND r.removed_at IS NULL AND ${live}`

  return Effect.fnUntraced(function* ({ orgId }: { readonly orgId: OrgId }) {
    const found = yield* projects.all(orgId)
    const below = yield* forEachInSlices(found, ({ id: projectId }) =>
      Effect.all({ declared: declared({ projectId }), envs: environments({ projectId }) })
    )
    const envs = below.flatMap((project) => project.envs)
    const inEnvs = yield* forEachInSlices(envs, ({ id: envId }) =>
      Effect.flatMap(secrets({ envId }), ({ count }) =>
        count === 0
          ? Effect.succeed({ secrets: 0, versions: 0, use_rules: 0 })
          : Effect.map(Effect.all([versions({ envId }), useRules({ envId })]), ([all, rules]) => ({
              secrets: count,
              versions: all.count,
              use_rules: rules.count
            }))
      )
    )
    const sum = <Name extends string>(name: Name, rows: ReadonlyArray<Readonly<Record<Name, number>>>) =>
      rows.reduce((total, row) => total + row[name], 0)
    const counts: ArchiveCounts = {
      projects: found.length,
      environments: envs.length,
      secrets: sum("secrets", inEnvs),
      versions: sum("versions", inEnvs),
      use_rules: sum("use_rules", inEnvs),
      declared: below.reduce((total, project) => total + project.declared.count, 0),
      members: (yield* members({ orgId })).count,
      groups: (yield* groups({ orgId })).count,
      accounts: (yield* accounts({ orgId })).count,
      rules: (yield* rules({ orgId })).count,
      webhooks: (yield* webhooks({ orgId })).count
    }
    return counts
  })
})
