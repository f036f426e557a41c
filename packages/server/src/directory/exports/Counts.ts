import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import { totalOfFields } from "@coffer/domain/archive/Fields"
import { EnvId, type OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveAs, liveEnv } from "../../access/place/PlaceRow.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { query, type Sql, sql } from "../../database/Query.js"
import { formatOf } from "../../keys/Envelope.js"
import { projectsRepo } from "../projects/Repo.js"
import { CountRow } from "../../database/Rows.js"

const reference: Sql<never> = sql([String(formatOf("reference"))])

const EnvRow = Schema.Struct({ id: EnvId })
const DeclaredRow = Schema.Struct({
  count: Schema.Number,
  "declared.required_in": Schema.Number,
  "declared.pattern": Schema.Number,
  "declared.description": Schema.Number,
  "declared.example": Schema.Number,
  "declared.owner": Schema.Number
})
const PlacesRow = Schema.Struct({
  "projects.order": Schema.Number,
  "environments.protection": Schema.Number,
  "environments.expires_at": Schema.Number,
  "environments.from": Schema.Number
})
const PreviewsRow = Schema.Struct({ "projects.previews": Schema.Number })
const AccountsRow = Schema.Struct({
  "accounts.project": Schema.Number,
  "accounts.expires_in_days": Schema.Number,
  "accounts.allowed_networks": Schema.Number
})
const FederationsRow = Schema.Struct({
  federations: Schema.Number,
  "federations.expires_at": Schema.Number,
  "federations.jwks": Schema.Number,
  "federations.kid": Schema.Number
})
const VersionsRow = Schema.Struct({
  count: Schema.Number,
  "versions.revision": Schema.Number,
  "versions.kind": Schema.Number,
  "versions.note": Schema.Number
})
const DuesRow = Schema.Struct({
  "secrets.expires_at": Schema.Number,
  "secrets.rotate_every_days": Schema.Number,
  "secrets.owner": Schema.Number
})

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

  // Those of a removed project stay behind with it.
  const accountFields = one(AccountsRow)`
    SELECT count(a.project_id) AS "accounts.project", count(a.expires_in_days) AS "accounts.expires_in_days",
      count(a.allowed_networks) AS "accounts.allowed_networks"
    FROM service_accounts a LEFT JOIN projects p ON p.id = a.project_id
    WHERE a.org_id = ${"orgId"} AND a.removed_at IS NULL AND p.removed_at IS NULL`

  const federationFields = one(FederationsRow)`
    SELECT count(*) AS federations, count(f.expires_at) AS "federations.expires_at",
      count(CASE WHEN EXISTS (SELECT 1 FROM federation_keys k WHERE k.federation_id = f.id) THEN 1 END) AS "federations.jwks",
      COALESCE(sum((SELECT count(k.kid) FROM federation_keys k WHERE k.federation_id = f.id)), 0) AS "federations.kid"
    FROM federations f JOIN service_accounts a ON a.id = f.service_account_id AND a.removed_at IS NULL
    LEFT JOIN projects p ON p.id = a.project_id
    WHERE f.org_id = ${"orgId"} AND f.removed_at IS NULL AND p.removed_at IS NULL`
  const mappings = one(CountRow)`
    SELECT count(*) AS count FROM group_mappings x WHERE x.org_id = ${"orgId"}`

  const declared = one(DeclaredRow)`
    SELECT count(*) AS count, count(CASE WHEN required_in <> '' THEN 1 END) AS "declared.required_in",
      count(pattern) AS "declared.pattern", count(description) AS "declared.description",
      count(example) AS "declared.example", count(owner) AS "declared.owner"
    FROM declared_keys WHERE project_id = ${"projectId"}`
  const placeFields = one(PlacesRow)`
    SELECT count(e.position) AS "projects.order", count(CASE WHEN e.protected = 1 THEN 1 END) AS "environments.protection",
      count(e.expires_at) AS "environments.expires_at",
      count(o.id) AS "environments.from"
    FROM environments e LEFT JOIN environments o ON o.id = e.source_id AND ${liveAs("o")}
    WHERE e.project_id = ${"projectId"} AND ${liveEnv}`
  const previews = one(PreviewsRow)`
    SELECT count(*) AS "projects.previews" FROM previews v JOIN environments o ON o.id = v.source_id AND ${liveAs("o")}
    WHERE v.project_id = ${"projectId"}`
  const environments = all(EnvRow)`
    SELECT e.id AS id FROM environments e WHERE e.project_id = ${"projectId"} AND ${liveEnv}`

  const live = sql`s.env_id = ${"envId"} AND s.removed_at IS NULL`
  const secrets = one(CountRow)`SELECT count(*) AS count FROM secrets s WHERE ${live}`
  // A CROSS JOIN makes SQLite begin with the secrets of the environment.
  const versions = one(VersionsRow)`
    SELECT count(*) AS count, count(v.revision) AS "versions.revision",
      count(CASE WHEN v.format = ${reference} THEN 1 END) AS "versions.kind",
      count(CASE WHEN EXISTS (SELECT 1 FROM revision_notes n WHERE n.env_id = s.env_id AND n.revision = v.revision)
        THEN 1 END) AS "versions.note"
    FROM secrets s CROSS JOIN secret_versions v WHERE v.secret_id = s.id AND ${live}`
  const useRules = one(CountRow)`
    SELECT count(*) AS count FROM secrets s CROSS JOIN use_rules r
    WHERE r.secret_id = s.id AND r.removed_at IS NULL AND ${live}`

  const dues = one(DuesRow)`
    SELECT count(d.expires_at) AS "secrets.expires_at", count(d.rotate_every_days) AS "secrets.rotate_every_days",
      count(d.owner) AS "secrets.owner"
    FROM secrets s CROSS JOIN secret_dues d WHERE d.secret_id = s.id AND ${live}`

  return Effect.fnUntraced(function* ({ orgId }: { readonly orgId: OrgId }) {
    const found = yield* projects.all(orgId)
    const below = yield* forEachInSlices(found, ({ id: projectId }) =>
      Effect.all({
        declared: declared({ projectId }),
        envs: environments({ projectId }),
        places: placeFields({ projectId }),
        previews: previews({ projectId })
      })
    )
    const envs = below.flatMap((project) => project.envs)
    const inEnvs = yield* forEachInSlices(envs, ({ id: envId }) =>
      Effect.flatMap(secrets({ envId }), ({ count }) =>
        count === 0
          ? Effect.succeed({ secrets: 0, versions: 0, use_rules: 0, fields: {} })
          : Effect.map(
              Effect.all([versions({ envId }), useRules({ envId }), dues({ envId })]),
              ([all, rules, dues]) => ({
                ...{ secrets: count, versions: all.count, use_rules: rules.count },
                fields: { ...all, ...dues }
              })
            )
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
      webhooks: (yield* webhooks({ orgId })).count,
      fields: totalOfFields([
        yield* accountFields({ orgId }),
        yield* federationFields({ orgId }),
        { mappings: (yield* mappings({ orgId })).count },
        ...below.map(({ declared: keys, places, previews: allowed }) => ({ ...keys, ...places, ...allowed })),
        ...inEnvs.map(({ fields }) => fields)
      ])
    }
    return counts
  })
})
