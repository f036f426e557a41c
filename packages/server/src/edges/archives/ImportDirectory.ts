import type { UserActor } from "@coffer/domain/access/Actor"
import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { audienceOf } from "@coffer/domain/directory/Claims"
import { Conflict } from "@coffer/domain/errors/Errors"
import { FederationId, type OrgId, ServiceAccountId, WebhookId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { approversText } from "../../access/gate/Protections.js"
import { ServerConfig } from "../../base/Config.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { keysOf } from "../../directory/federations/Jwks.js"
import { federationsRepo } from "../../directory/federations/Repo.js"
import { groupsRepo } from "../../directory/groups/Repo.js"
import { mappingsRepo } from "../../directory/groups/MappingsRepo.js"
import { Users } from "../../directory/login/Users.js"
import { importRepo } from "../../secrets/archives/ImportRepo.js"
import { webhooksRepo } from "../webhooks/Repo.js"
import { SigningKeys } from "../webhooks/SigningKeys.js"
import { importDirectoryRepo } from "./ImportDirectoryRepo.js"
import { phase, type Phase, rowsAtOnce } from "./Phases.js"

/** An organization before it becomes visible. */
export interface Arriving {
  readonly id: OrgId
  readonly name: OrgName
  readonly structure: ArchivedOrganization
  readonly importer: UserActor
}

/** The addresses with their roles, in one order: another import may make the same users, and each waits for those of the other. */
const rolesOf = ({ importer, structure }: Arriving) => {
  const roles = new Map(structure.members.map(({ email, role }) => [email, role]))
  roles.set(importer.email, "owner")
  return [...roles].sort(([one], [other]) => (one < other ? -1 : 1))
}

/** People, rights, webhooks and protections of an imported organization, which stay hidden with it, as phases. */
export const makeImportDirectory = Effect.gen(function* () {
  const repo = yield* importDirectoryRepo
  const imports = yield* importRepo
  const users = yield* Users
  const groups = yield* groupsRepo
  const mappings = yield* mappingsRepo
  const federations = yield* federationsRepo
  const webhooks = yield* webhooksRepo
  const signingKeys = yield* SigningKeys
  const { publicUrl } = yield* ServerConfig

  const stamps = Effect.map(now, (at) => ({ created_at: at, updated_at: at }))

  const peopleOf = (orgId: OrgId) =>
    Effect.map(groups.people(orgId), (rows) => new Map(rows.map(({ email, user_id }) => [email, user_id])))
  const groupsOf = (orgId: OrgId) =>
    Effect.map(groups.all(orgId), (rows) => new Map(rows.map(({ id, name }) => [name, id])))

  /** The ids of the service accounts, which were made at the beginning, by name. */
  const accountsOf = Effect.fnUntraced(function* (orgId: OrgId) {
    const ids = new Map<string, ServiceAccountId>()
    for (let after = ""; ;) {
      const rows = yield* imports.accounts({ orgId, after, limit: rowsAtOnce })
      for (const { id, name } of rows) ids.set(name, ServiceAccountId.make(id))
      const last = rows.at(-1)
      if (last === undefined || rows.length < rowsAtOnce) return ids
      after = last.name
    }
  })

  /** An id that an earlier phase made. */
  const known = <Name extends string, Id>(ids: ReadonlyMap<Name, Id>, name: Name): Effect.Effect<Id> => {
    const id = ids.get(name)
    return id === undefined ? Effect.dieMessage("a part of an import is gone") : Effect.succeed(id)
  }

  const membersPhase = (arriving: Arriving) =>
    phase(
      rolesOf(arriving),
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const at = yield* stamps
          const rows = yield* Effect.forEach(some, ([email, role]) =>
            Effect.map(Effect.all([uuidV7, users.ensure(email)]), ([id, user]) => ({
              ...{ id, org_id: arriving.id, user_id: user.id, role },
              ...at,
              // The archive is the importer's: it proves nothing of what others have accepted.
              accepted_at: email === arriving.importer.email ? at.created_at : null
            }))
          )
          yield* repo.insertMembers(rows)
        })
      ),
      // A new user, too.
      2
    )

  const groupsPhase = ({ id: org_id, importer: { email: created_by }, structure }: Arriving) =>
    phase(
      structure.groups,
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const at = yield* stamps
          yield* repo.insertGroups(
            yield* Effect.forEach(some, ({ name }) =>
              Effect.map(uuidV7, (id) => ({ id, org_id, name, created_by, ...at }))
            )
          )
        })
      )
    )

  const groupMembersPhase = ({ id: org_id, importer: { email: added_by }, structure }: Arriving) =>
    phase(
      structure.groups.flatMap(({ members, name }) => members.map((email) => ({ email, name }))),
      Effect.map(
        Effect.all([groupsOf(org_id), peopleOf(org_id)]),
        ([ids, people]) =>
          (some) =>
            Effect.gen(function* () {
              const created_at = yield* now
              const rows = yield* Effect.forEach(some, ({ email, name }) =>
                Effect.map(Effect.all([known(people, email), known(ids, name)]), ([user_id, group_id]) => ({
                  ...{ user_id, org_id, group_id, added_by, created_at }
                }))
              )
              yield* groups.addMembers(rows)
            })
      )
    )

  const mappingsPhase = ({ id: org_id, structure }: Arriving) =>
    phase(
      structure.mappings,
      Effect.map(
        groupsOf(org_id),
        (ids) => (some) =>
          Effect.flatMap(
            Effect.forEach(some, ({ group, provider_group }) =>
              Effect.map(known(ids, group), (group_id) => ({ org_id, provider_group, group_id }))
            ),
            mappings.insert
          )
      )
    )

  const rulesPhase = ({ id: org_id, importer: { email: created_by }, structure }: Arriving) =>
    phase(
      structure.rules,
      Effect.map(
        Effect.all({ user: peopleOf(org_id), service_account: accountsOf(org_id), group: groupsOf(org_id) }),
        (subjects: Readonly<Record<"user" | "service_account" | "group", ReadonlyMap<string, string>>>) => (some) =>
          Effect.gen(function* () {
            const at = yield* stamps
            const rows = yield* Effect.forEach(some, ({ expires_at, subject, subject_type, ...rule }) =>
              Effect.map(Effect.all([uuidV7, known(subjects[subject_type], subject)]), ([id, subject_id]) => ({
                ...{ id, org_id, subject_type, subject_id, ...rule, created_by },
                expires_at: expires_at === undefined ? null : Date.parse(expires_at),
                ...at
              }))
            )
            yield* repo.insertRules(rows)
          })
      )
    )

  const federationsPhase = ({ id: orgId, importer, name: org, structure }: Arriving): Phase<Conflict> => {
    const all =
      publicUrl === null
        ? []
        : structure.accounts.flatMap((account) =>
            account.federations.map((federation) => ({
              ...{ account: account.name, federation, audience: audienceOf(publicUrl, org, account.name) },
              keys: federation.jwks === undefined ? [] : keysOf(federation.jwks)
            }))
          )
    return phase(
      all,
      Effect.map(
        accountsOf(orgId),
        (accounts) => (some) =>
          Effect.forEach(
            some,
            ({ account, audience, federation: { conditions, expires_at, issuer, max_age, name, ttl }, keys }) =>
              Effect.gen(function* () {
                const accountId = yield* known(accounts, account)
                const id = FederationId.make(yield* uuidV7)
                yield* federations.insert({
                  ...{ id, accountId, orgId, name, issuer, audience, ttl, maxAge: max_age },
                  conditions: JSON.stringify(conditions),
                  expiresAt: expires_at ?? null,
                  createdBy: importer.email,
                  now: yield* now
                })
                yield* federations.insertKeys(keys.map((key, position) => ({ federation_id: id, position, ...key })))
                const ambiguous = yield* federations.ambiguousKey({ accountId, issuer, id, now: yield* now })
                if (ambiguous === undefined) return
                return yield* new Conflict({
                  message: `two federations of service account ${account} have different keys of one id`
                })
              }),
            { discard: true }
          )
      ),
      Math.max(1, ...new Set(all.map(({ keys }) => 1 + keys.length)))
    )
  }

  /** Disabled: whoever receives the events does not know the new signing key yet. */
  const webhooksPhase = ({ id: org_id, importer: { email: created_by }, structure }: Arriving) =>
    phase(
      structure.webhooks,
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const seq = (yield* webhooks.headOf({ log: org_id }))?.seq ?? 0
          for (const { environments, events, format = "coffer", url } of some) {
            const id = WebhookId.make(yield* uuidV7)
            yield* repo.insertWebhooks([
              {
                ...{ id, org_id, url, events: JSON.stringify(events), environments: JSON.stringify(environments) },
                ...{ format, enabled: 0, seq, key_number: 1, created_by },
                ...(yield* stamps)
              }
            ])
            yield* signingKeys.make(id, 1)
          }
        })
      ),
      2
    )

  const protectionsPhase = ({ id: org_id, importer: { email: updated_by }, structure }: Arriving) =>
    phase(
      structure.projects.flatMap(({ environments, name: project }) =>
        environments.flatMap(({ name: env, protection }) =>
          protection === undefined ? [] : [{ project, env, protection }]
        )
      ),
      Effect.succeed((some) =>
        Effect.forEach(
          some,
          ({ env, project, protection }) =>
            Effect.gen(function* () {
              const place = yield* imports.place({ orgId: org_id, project, env })
              if (place === undefined) return yield* Effect.dieMessage("an environment of an import is gone")
              yield* repo.insertProtections([
                {
                  ...{ env_id: place.env_id, org_id, needed: protection.needed, version: 1, updated_by },
                  approvers: approversText(protection.approvers),
                  self: protection.self === true ? 1 : 0,
                  break_glass: JSON.stringify(protection.break_glass ?? []),
                  expires_after: protection.expires_after ?? "72h",
                  passkey: protection.passkey === true ? 1 : 0,
                  updated_at: yield* now
                }
              ])
              yield* repo.markProtected({ envId: place.env_id })
            }),
          { discard: true }
        )
      ),
      2
    )

  /** Names the organization in what its federations expect of tokens, if it was called otherwise when they were written. */
  const renameAudiences = ({ id: orgId, name }: Arriving) =>
    Effect.fnUntraced(function* (after: string) {
      const rows = yield* repo.audiences({ orgId, after, limit: rowsAtOnce })
      for (const { account, audience: before, id } of rows) {
        const audience = publicUrl === null ? before : audienceOf(publicUrl, name, account)
        if (audience !== before) yield* repo.setAudience({ id, audience })
      }
      return rows.at(-1)?.id ?? null
    })

  const phases = (arriving: Arriving): ReadonlyArray<Phase<Conflict>> => [
    membersPhase(arriving),
    groupsPhase(arriving),
    groupMembersPhase(arriving),
    mappingsPhase(arriving),
    rulesPhase(arriving),
    federationsPhase(arriving),
    webhooksPhase(arriving),
    protectionsPhase(arriving)
  ]

  return { phases, renameAudiences } as const
})
