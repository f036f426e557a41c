import { Api } from "@coffer/domain/Api"
import type { archivedRecords } from "@coffer/domain/archive/ArchivedOrganization"
import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import { type EnvId, type ProjectId, ServiceAccountId } from "@coffer/domain/base/Ids"
import { type Email, EnvName, type OrgName } from "@coffer/domain/base/Names"
import type { PasskeyRecovery } from "@coffer/domain/directory/Organization"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import { notVisible } from "../../access/place/NotFound.js"
import { liveAs, liveEnv } from "../../access/place/PlaceRow.js"
import { previewsRepo } from "../../access/place/Previews.js"
import { makeProtections } from "../../access/gate/Protections.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { timestamp } from "../../base/Time.js"
import { traced } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { query } from "../../database/Query.js"
import { aclRepo } from "../../directory/acl/Repo.js"
import { endOf, environmentsRepo } from "../../directory/environments/Repo.js"
import { archiveCounts } from "../../directory/exports/Counts.js"
import { conditionsOf, federationsRepo } from "../../directory/federations/Repo.js"
import { mappingsRepo } from "../../directory/groups/MappingsRepo.js"
import { groupsRepo } from "../../directory/groups/Repo.js"
import { membersRepo } from "../../directory/members/Repo.js"
import { organizationsRepo } from "../../directory/organizations/Repo.js"
import { projectsRepo } from "../../directory/projects/Repo.js"
import { serviceAccountsRepo } from "../../directory/service-accounts/Repo.js"
import { networksIn } from "../../directory/service-accounts/ServiceAccounts.js"
import { formatOf } from "../webhooks/Formats.js"
import { webhooksRepo } from "../webhooks/Repo.js"
import { patternsOf } from "../webhooks/Webhooks.js"
import { withMembersAlone } from "./ProtectionChecks.js"
import { idRow } from "../../database/Rows.js"

type Records = typeof archivedRecords

/** The lists of a structure as JSON has them. */
export type StructureLists = { readonly [Name in keyof Records]: ReadonlyArray<Schema.Schema.Encoded<Records[Name]>> }

/** The structure of an organization, as of one moment. */
export interface Structure {
  readonly name: OrgName
  readonly server: string
  readonly counts: ArchiveCounts
  readonly passkey_recovery: PasskeyRecovery
  readonly lists: StructureLists
}

const serverVersion = Option.getOrElse(Context.getOption(Api.annotations, OpenApi.Version), () => "")

const KeyRow = Schema.Struct({
  kid: Schema.NullOr(Schema.String),
  alg: Schema.NullOr(Schema.String),
  jwk: Schema.String
})
const PersonRow = Schema.Struct({ email: Schema.String })
const OriginRow = Schema.Struct({ name: EnvName, source: EnvName })
const decodeKey = Schema.decode(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown })))

/** Reads the structure of an organization by names instead of ids, without what was removed and without keys. */
export class Structures extends Effect.Service<Structures>()("@coffer/server/Structures", {
  effect: Effect.gen(function* () {
    const organizations = yield* organizationsRepo
    const members = yield* membersRepo
    const groups = yield* groupsRepo
    const mappings = yield* mappingsRepo
    const projects = yield* projectsRepo
    const environments = yield* environmentsRepo
    const previews = yield* previewsRepo
    const protections = yield* makeProtections
    const accounts = yield* serviceAccountsRepo
    const federations = yield* federationsRepo
    const rules = yield* aclRepo
    const webhooks = yield* webhooksRepo
    const counts = yield* archiveCounts
    const { snapshot } = yield* Database
    const { all } = yield* query
    const stranded = all(idRow(ServiceAccountId))`
      SELECT a.id AS id FROM service_accounts a JOIN projects p ON p.id = a.project_id AND p.removed_at IS NOT NULL
      WHERE a.org_id = ${"orgId"} AND a.removed_at IS NULL`
    const origins = all(OriginRow)`
      SELECT e.name AS name, o.name AS source FROM environments e JOIN environments o ON o.id = e.source_id
      WHERE e.project_id = ${"projectId"} AND ${liveEnv} AND ${liveAs("o")}`
    const keysOf = all(
      KeyRow
    )`SELECT kid, alg, jwk FROM federation_keys WHERE federation_id = ${"id"} ORDER BY position`

    const disabled = all(PersonRow)`
      SELECT u.email AS email FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NOT NULL
      WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL`

    const groupsOf = (orgId: Place<"org.export">["org"]["id"], without: ReadonlySet<string>) =>
      Effect.flatMap(groups.all(orgId), (rows) =>
        forEachInSlices(rows, ({ id, name }) =>
          Effect.map(groups.members(id), (people) => ({
            name,
            members: people.map(({ email }) => email).filter((email) => !without.has(email))
          }))
        )
      )

    const protectionOf = (id: EnvId, isMember: (email: Email) => boolean) =>
      Effect.map(protections.find(id), (found) => {
        if (found === null) return {}
        const { approvers, break_glass, expires_after, needed, passkey, self } = found
        const terms = { needed, approvers, self, break_glass, expires_after, passkey }
        return { protection: withMembersAlone(terms, isMember) }
      })

    const previewsOf = (projectId: ProjectId) =>
      Effect.map(previews.find({ projectId }), (found) =>
        found === undefined
          ? {}
          : { previews: { from: found.source, pattern: found.pattern, max: found.max, longest: found.longest } }
      )

    const projectsOf = (orgId: Place<"org.export">["org"]["id"], isMember: (email: Email) => boolean) =>
      Effect.flatMap(projects.all(orgId), (rows) =>
        forEachInSlices(rows, ({ id, name, strict = false }) =>
          Effect.gen(function* () {
            const rows = yield* environments.all({ projectId: id })
            const order = (yield* environments.ordered({ projectId: id })).map((env) => env.name)
            const sources = new Map((yield* origins({ projectId: id })).map((env) => [env.name, env.source]))
            const places = yield* Effect.forEach(rows, (env) =>
              Effect.map(env.is_protected === 1 ? protectionOf(env.id, isMember) : Effect.succeed({}), (protection) => {
                const from = sources.get(env.name)
                return { name: env.name, ...protection, ...endOf(env), ...(from !== undefined && { from }) }
              })
            )
            return {
              name,
              strict,
              ...(order.length > 0 && { order }),
              ...(yield* previewsOf(id)),
              environments: places
            }
          })
        )
      )

    const federationsOf = (accountId: Parameters<typeof federations.all>[0]["accountId"]) =>
      Effect.flatMap(federations.all({ accountId }), (rows) =>
        Effect.forEach(rows, (row) =>
          Effect.gen(function* () {
            const { expires_at, has_keys, id, issuer, max_age, name, ttl } = row
            const keys = has_keys === 0 ? [] : yield* keysOf({ id })
            const parsed = yield* Effect.orDie(
              Effect.forEach(keys, ({ alg, jwk, kid }) =>
                Effect.map(decodeKey(jwk), (members) => ({
                  ...members,
                  ...(kid !== null && { kid }),
                  // For something else than tokens: what, is not kept.
                  ...(alg === null && { alg: "none" })
                }))
              )
            )
            return {
              name,
              issuer,
              ...(parsed.length > 0 && { jwks: { keys: parsed } }),
              conditions: yield* conditionsOf(row),
              max_age,
              ttl,
              ...(expires_at !== null && { expires_at })
            }
          })
        )
      )

    /** Without those of a removed project: a new one of its name is not theirs. */
    const accountsOf = Effect.fnUntraced(function* (orgId: Place<"org.export">["org"]["id"]) {
      const without = new Set((yield* stranded({ orgId })).map(({ id }) => id))
      const rows = (yield* accounts.all(orgId)).filter(({ id }) => !without.has(id))
      return yield* forEachInSlices(rows, ({ allowed_networks, expires_in_days, id, name, project, reveal }) =>
        Effect.map(federationsOf(id), (some) => ({
          name,
          ...(project !== null && { project }),
          reveal: reveal === 1,
          ...(expires_in_days !== null && { expires_in_days }),
          ...(allowed_networks !== null && { allowed_networks: networksIn(allowed_networks) }),
          federations: some
        }))
      )
    })

    const rulesOf = (orgId: Place<"org.export">["org"]["id"]) =>
      Effect.map(rules.all(orgId), (rows) =>
        rows.flatMap((row) => {
          const { email, env_pattern, expires_at, group_name, name, permission, project_pattern, request_id } = row
          const subject = email ?? name ?? group_name
          if (request_id !== null || subject === null) return []
          const ends = expires_at === null ? {} : { expires_at: timestamp(expires_at) }
          return [{ subject_type: row.subject_type, subject, project_pattern, env_pattern, permission, ...ends }]
        })
      )

    const webhooksOf = (orgId: Place<"org.export">["org"]["id"]) =>
      Effect.flatMap(webhooks.all({ orgId }), (rows) =>
        Effect.forEach(rows, ({ enabled, environments: places, events, format, url }) =>
          Effect.map(Effect.all([patternsOf(events), patternsOf(places)]), ([some, environments]) => ({
            url,
            events: some,
            environments,
            format: formatOf(format),
            enabled: enabled === 1
          }))
        )
      )

    const read = traced("Structures.read")((place: Place<"org.export">) =>
      snapshot(
        Effect.gen(function* () {
          const { id, name } = place.org
          const found =
            (yield* organizations.find({ id, actorId: place.actor.id })) ?? (yield* notVisible(`organization ${name}`))
          // Another server would let them in again.
          const without = new Set((yield* disabled({ orgId: id })).map(({ email }) => email))
          const people = (yield* members.all(id)).filter(({ email }) => !without.has(email))
          const mapped = yield* mappings.all({ orgId: id })
          const subjects = {
            members: people.map(({ email, role }) => ({ email, role })),
            groups: yield* groupsOf(id, without),
            accounts: yield* accountsOf(id)
          }
          const known = {
            user: new Set<string>(people.map(({ email }) => email)),
            service_account: new Set<string>(subjects.accounts.map((account) => account.name)),
            group: new Set<string>(subjects.groups.map((group) => group.name))
          }
          const lists: StructureLists = {
            ...subjects,
            mappings: mapped.map(({ group, provider_group }) => ({ provider_group, group })),
            projects: yield* projectsOf(id, (email) => known.user.has(email)),
            rules: (yield* rulesOf(id)).filter(({ subject, subject_type }) => known[subject_type].has(subject)),
            webhooks: yield* webhooksOf(id)
          }
          const structure: Structure = {
            name: found.name,
            server: serverVersion,
            counts: {
              ...(yield* counts({ orgId: id })),
              members: lists.members.length,
              accounts: lists.accounts.length,
              rules: lists.rules.length
            },
            passkey_recovery: found.passkey_recovery,
            lists
          }
          return structure
        })
      )
    )

    return { read } as const
  })
}) {}
