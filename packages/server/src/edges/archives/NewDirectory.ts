import type { UserActor } from "@coffer/domain/Actor"
import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { audienceOf } from "@coffer/domain/Claims"
import { Conflict } from "@coffer/domain/Errors"
import { FederationId, type OrgId, ServiceAccountId, type UserId, WebhookId } from "@coffer/domain/Ids"
import type { OrgName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { approversText } from "../../access/Protections.js"
import { ServerConfig } from "../../base/Config.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { query } from "../../database/Query.js"
import { keysOf } from "../../directory/federations/Jwks.js"
import { federationsRepo } from "../../directory/federations/Repo.js"
import { groupsRepo } from "../../directory/groups/Repo.js"
import { mappingsRepo } from "../../directory/groups/MappingsRepo.js"
import { Users } from "../../directory/login/Users.js"
import { importRepo } from "../../secrets/archives/ImportRepo.js"
import { webhooksRepo } from "../webhooks/Repo.js"
import { SigningKeys } from "../webhooks/SigningKeys.js"

const pageRows = 200

/** An organization at the moment that it becomes visible. */
interface Arriving {
  readonly id: OrgId
  readonly name: OrgName
  readonly structure: ArchivedOrganization
  readonly importer: UserActor
}

/** Writes people, rights, webhooks and protections of an imported organization, in the transaction that makes it visible. */
export const makeNewDirectory = Effect.gen(function* () {
  const imports = yield* importRepo
  const users = yield* Users
  const groups = yield* groupsRepo
  const mappings = yield* mappingsRepo
  const federations = yield* federationsRepo
  const webhooks = yield* webhooksRepo
  const signingKeys = yield* SigningKeys
  const { publicUrl } = yield* ServerConfig
  const { insert, write } = yield* query

  const insertMembers = insert("members", ["id", "org_id", "user_id", "role", "created_at", "updated_at"])
  const insertGroups = insert("groups", ["id", "org_id", "name", "created_by", "created_at", "updated_at"])
  const insertRules = insert("acl_rules", [
    "id",
    "org_id",
    "subject_type",
    "subject_id",
    "project_pattern",
    "env_pattern",
    "permission",
    "expires_at",
    "created_by",
    "created_at",
    "updated_at"
  ])
  const insertWebhooks = insert("webhooks", [
    "id",
    "org_id",
    "url",
    "events",
    "environments",
    "format",
    "enabled",
    "seq",
    "key_number",
    "created_by",
    "created_at",
    "updated_at"
  ])
  const insertProtections = insert("protections", [
    "env_id",
    "org_id",
    "needed",
    "approvers",
    "self",
    "break_glass",
    "expires_after",
    "passkey",
    "version",
    "updated_by",
    "updated_at"
  ])
  const markProtected = write`UPDATE environments SET protected = 1 WHERE id = ${"envId"}`

  /** Makes the members. The importer is an owner. Returns their ids by address. */
  const writeMembers = Effect.fnUntraced(function* ({ id, importer, structure }: Arriving, at: string) {
    const ids = new Map<string, UserId>([[importer.email, importer.id]])
    // In one order: another import may make the same users, and each waits for those of the other.
    const members = structure.members.toSorted((one, other) => (one.email < other.email ? -1 : 1))
    yield* forEachInSlices(members, ({ email }) =>
      ids.has(email) ? Effect.void : Effect.map(users.ensure(email), (user) => ids.set(email, user.id))
    )
    const roles = new Map<string, string>(structure.members.map(({ email, role }) => [email, role]))
    roles.set(importer.email, "owner")
    const rows = yield* forEachInSlices([...ids], ([email, userId]) =>
      Effect.map(uuidV7, (memberId) => ({
        id: memberId,
        org_id: id,
        user_id: userId,
        role: roles.get(email) ?? "member",
        created_at: at,
        updated_at: at
      }))
    )
    yield* insertMembers(rows)
    return ids
  })

  const writeGroups = Effect.fnUntraced(function* (
    { id, importer, structure }: Arriving,
    people: ReadonlyMap<string, UserId>,
    at: string
  ) {
    const ids = new Map<string, string>()
    for (const { name } of structure.groups) ids.set(name, yield* uuidV7)
    const by = importer.email
    yield* insertGroups(
      [...ids].map(([name, groupId]) => ({
        id: groupId,
        org_id: id,
        name,
        created_by: by,
        created_at: at,
        updated_at: at
      }))
    )
    yield* forEachInSlices(structure.groups, ({ members, name }) =>
      groups.addMembers(
        members.map((email) => ({
          user_id: people.get(email) ?? "",
          org_id: id,
          group_id: ids.get(name) ?? "",
          added_by: by,
          created_at: at
        }))
      )
    )
    yield* mappings.insert(
      structure.mappings.map(({ group, provider_group }) => ({
        org_id: id,
        provider_group,
        group_id: ids.get(group) ?? ""
      }))
    )
    return ids
  })

  /** The ids of the service accounts, which were made at the beginning, by name. */
  const accountsOf = Effect.fnUntraced(function* (orgId: OrgId) {
    const ids = new Map<string, string>()
    for (let after = ""; ;) {
      const rows = yield* imports.accounts({ orgId, after, limit: pageRows })
      for (const { id, name } of rows) ids.set(name, id)
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageRows) return ids
      after = last.name
    }
  })

  const writeRules = Effect.fnUntraced(function* (
    { id, importer, structure }: Arriving,
    subjects: Readonly<Record<"user" | "service_account" | "group", ReadonlyMap<string, string>>>,
    at: string
  ) {
    const rows = yield* forEachInSlices(structure.rules, ({ expires_at, subject, subject_type, ...rule }) =>
      Effect.map(uuidV7, (ruleId) => ({
        id: ruleId,
        org_id: id,
        subject_type,
        subject_id: subjects[subject_type].get(subject) ?? "",
        ...rule,
        expires_at: expires_at === undefined ? null : Date.parse(expires_at),
        created_by: importer.email,
        created_at: at,
        updated_at: at
      }))
    )
    yield* insertRules(rows)
  })

  const writeFederations = Effect.fnUntraced(function* (
    { id, importer, name: org, structure }: Arriving,
    accounts: ReadonlyMap<string, string>,
    at: string
  ) {
    if (publicUrl === null) return
    const all = structure.accounts.flatMap((account) =>
      account.federations.map((federation) => ({ account: account.name, federation }))
    )
    yield* forEachInSlices(
      all,
      ({ account, federation: { conditions, expires_at, issuer, jwks, max_age, name, ttl } }) =>
        Effect.gen(function* () {
          const accountId = ServiceAccountId.make(accounts.get(account) ?? "")
          const federationId = FederationId.make(yield* uuidV7)
          yield* federations.insert({
            id: federationId,
            accountId,
            orgId: id,
            name,
            issuer,
            audience: audienceOf(publicUrl, org, account),
            conditions: JSON.stringify(conditions),
            maxAge: max_age,
            ttl,
            expiresAt: expires_at ?? null,
            createdBy: importer.email,
            now: at
          })
          const keys = jwks === undefined ? [] : keysOf(jwks)
          yield* federations.insertKeys(
            keys.map((key, position) => ({ federation_id: federationId, position, ...key }))
          )
          const ambiguous = yield* federations.ambiguousKey({ accountId, issuer, id: federationId, now: at })
          if (ambiguous !== undefined) {
            return yield* new Conflict({
              message: `two federations of service account ${account} have different keys of one id`
            })
          }
        })
    )
  })

  /** Disabled: whoever receives the events does not know the new signing key yet. */
  const writeWebhooks = Effect.fnUntraced(function* ({ id, importer, structure }: Arriving, at: string) {
    const seq = (yield* webhooks.headOf({ log: id }))?.seq ?? 0
    for (const { environments, events, format = "coffer", url } of structure.webhooks) {
      const webhookId = WebhookId.make(yield* uuidV7)
      yield* insertWebhooks([
        {
          id: webhookId,
          org_id: id,
          url,
          events: JSON.stringify(events),
          environments: JSON.stringify(environments),
          format,
          enabled: 0,
          seq,
          key_number: 1,
          created_by: importer.email,
          created_at: at,
          updated_at: at
        }
      ])
      yield* signingKeys.make(webhookId, 1)
    }
  })

  const writeProtections = Effect.fnUntraced(function* ({ id, importer, structure }: Arriving, at: string) {
    const all = structure.projects.flatMap(({ environments, name: project }) =>
      environments.flatMap(({ name: env, protection }) =>
        protection === undefined ? [] : [{ project, env, protection }]
      )
    )
    yield* forEachInSlices(all, ({ env, project, protection }) =>
      Effect.gen(function* () {
        const place = yield* imports.place({ orgId: id, project, env })
        if (place === undefined) return yield* Effect.dieMessage("an environment of an import is gone")
        yield* insertProtections([
          {
            env_id: place.env_id,
            org_id: id,
            needed: protection.needed,
            approvers: approversText(protection.approvers),
            self: protection.self === true ? 1 : 0,
            break_glass: JSON.stringify(protection.break_glass ?? []),
            expires_after: protection.expires_after ?? "72h",
            passkey: protection.passkey === true ? 1 : 0,
            version: 1,
            updated_by: importer.email,
            updated_at: at
          }
        ])
        yield* markProtected({ envId: place.env_id })
      })
    )
  })

  return Effect.fnUntraced(function* (arriving: Arriving) {
    const at = yield* now
    const people = yield* writeMembers(arriving, at)
    const groupIds = yield* writeGroups(arriving, people, at)
    const accounts = yield* accountsOf(arriving.id)
    yield* writeRules(arriving, { user: people, service_account: accounts, group: groupIds }, at)
    yield* writeFederations(arriving, accounts, at)
    yield* writeWebhooks(arriving, at)
    yield* imports.admitUsePeople({ orgId: arriving.id })
    yield* imports.forgetUsePeople({ orgId: arriving.id })
    yield* writeProtections(arriving, at)
  })
})
