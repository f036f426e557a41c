import { actorName } from "@coffer/domain/access/Actor"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import type { NewServiceAccount, ServiceAccount, ServiceAccountWithKey } from "@coffer/domain/directory/ServiceAccount"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { usedSince } from "../../audit/RecentUses.js"
import { ServerConfig, type Settings } from "../../base/Config.js"
import { misleading } from "../../base/config/Networks.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { checkRecord, etagOfAll } from "../../http/ETag.js"
import { hashToken, keyHint, mintToken } from "../../keys/Token.js"
import { method } from "../../base/tracing/Traced.js"
import { makeDepartures } from "../members/Departures.js"
import { type AccountRow, serviceAccountsRepo } from "./Repo.js"

export const accountLimit = recordLimit(2_000, (max) => `an organization has at most ${max} service accounts`)
/** A rotation and a revocation end all keys of an account in one transaction. */
const keyLimit = recordLimit(
  200,
  (max) => `a service account has at most ${max} valid keys: rotate without a grace period, which ends the earlier ones`
)
const dayMillis = 24 * 60 * 60 * 1000

export interface NewAccount {
  readonly name: ServiceAccountName
  readonly project?: ProjectName
  readonly reveal?: boolean
  readonly key?: boolean
  readonly allowed_networks?: ReadonlyArray<string>
  readonly expires_in_days?: number
}

export interface ServiceAccountChanges {
  /** Null: any. */
  readonly allowed_networks?: ReadonlyArray<string> | null
}

/** The state of what can be changed of an account. */
const etagOf = ({ allowed_networks, id }: Pick<AccountRow, "id" | "allowed_networks">): string =>
  etagOfAll(id, allowed_networks)

/** Whether an account made no call since a time. */
export const isUnusedSince = (
  { created_at, last_used_at }: Pick<AccountRow, "created_at" | "last_used_at">,
  since: string
): boolean => (last_used_at ?? created_at) < since

const serviceAccount = (
  { allowed_networks, expires_in_days: _, key_hint, reveal, ...row }: AccountRow,
  since: string
): ServiceAccount => {
  const networks = allowed_networks === null ? null : networksIn(allowed_networks)
  const network_notes = misleading(networks ?? [])
  return {
    ...row,
    ...(networks !== null && { allowed_networks: networks }),
    ...(network_notes.length > 0 && { network_notes }),
    key_hint: key_hint ?? "",
    reveal: reveal === 1,
    ...(isUnusedSince(row, since) && { usage: "unused" }),
    etag: etagOf({ id: row.id, allowed_networks })
  }
}

/** The networks of a column. */
export const networksIn = Schema.decodeSync(Schema.parseJson(Schema.Array(Schema.String)))

/** Checks networks that an account may call from. Without a list of proxies, callers could choose their address. */
const allowedNetworks = (
  networks: ReadonlyArray<string> | null,
  { trustedProxies }: Settings
): Effect.Effect<string | null, ValidationError> => {
  if (networks === null) return Effect.succeed(null)
  if (trustedProxies === null) {
    return new ValidationError({
      message:
        "allowed_networks: the server does not know its proxies, so callers could choose their address: ask its operator to set SERVICE_TRUSTED_PROXIES"
    })
  }
  const [wrong] = misleading(networks)
  return wrong === undefined
    ? Effect.succeed(JSON.stringify(networks))
    : new ValidationError({ message: `allowed_networks: ${wrong}` })
}

/** Mints an API key and its row. */
const newKey = Effect.fnUntraced(function* (
  service_account_id: ServiceAccountId,
  millis: number,
  expiresInDays: number | null
) {
  const key = yield* mintToken("apiKey")
  const text = Redacted.value(key)
  const row = {
    id: yield* uuidV7,
    service_account_id,
    token_hash: hashToken(text),
    hint: keyHint(text),
    created_at: timestamp(millis),
    expires_at: expiresInDays === null ? null : timestamp(millis + expiresInDays * dayMillis)
  }
  return { key, row }
})

const noKeyToExpire = new ValidationError({ message: "expires_in_days: is for the key, and key is false" })

/** Service accounts. An API key is returned once, when it is made; the database holds its hash. */
export class ServiceAccounts extends Effect.Service<ServiceAccounts>()("@coffer/server/ServiceAccounts", {
  effect: Effect.gen(function* () {
    const repo = yield* serviceAccountsRepo
    const departures = yield* makeDepartures
    const config = yield* ServerConfig
    const audit = yield* AuditLog

    const create = method(
      "ServiceAccounts.create",
      function* (place: Place<"service_account.create">, request: NewAccount) {
        const {
          allowed_networks = null,
          expires_in_days = null,
          key: hasKey = true,
          name,
          project = null,
          reveal = true
        } = request
        const millis = yield* Clock.currentTimeMillis
        const created_at = timestamp(millis)
        const id = ServiceAccountId.make(yield* uuidV7)
        if (!hasKey && expires_in_days !== null) return yield* noKeyToExpire
        const networks = yield* allowedNetworks(allowed_networks, config)
        const made = hasKey ? yield* newKey(id, millis, expires_in_days) : null
        const expires_at = made?.row.expires_at ?? null
        const created_by = actorName(place.actor)
        yield* accountLimit.room(yield* repo.count({ orgId: place.org.id }))
        const projectRow =
          project === null ? { id: null } : yield* repo.findProject({ orgId: place.org.id, name: project })
        if (projectRow === undefined) return yield* notFound(`project ${project ?? ""}`)
        // A unique index would reject accounts of earlier versions, whose names may differ in case only.
        const alike = yield* repo.findAlike({ orgId: place.org.id, name })
        if (alike !== undefined) {
          const whose = alike.name === name ? "" : `, as ${JSON.stringify(alike.name)}`
          return yield* new Conflict({
            message: `the service account name ${name} is in use${whose}: choose another`
          })
        }
        yield* repo.insert([
          {
            ...{ id, org_id: place.org.id, project_id: projectRow.id, name, reveal: reveal ? 1 : 0 },
            ...{ allowed_networks: networks, expires_in_days, created_by, created_at, updated_at: created_at }
          }
        ])
        if (made !== null) yield* repo.insertKey(made.row)
        yield* audit.change(sourceOf(place), {
          action: "service_account.create",
          resource_type: "service_account",
          resource_id: id,
          metadata: {
            name,
            project,
            reveal,
            expires_at,
            ...(made === null && { key: false }),
            ...(allowed_networks !== null && { allowed_networks })
          }
        })

        const account: NewServiceAccount = {
          id,
          name,
          project,
          reveal,
          ...(allowed_networks !== null && { allowed_networks }),
          key_hint: made?.row.hint ?? "",
          expires_at,
          created_by,
          created_at,
          last_used_at: null,
          ...(made !== null && { api_key: made.key })
        }
        return account
      }
    )

    const list = method("ServiceAccounts.list", function* (place: Place<"service_account.list">) {
      const since = yield* usedSince
      return (yield* repo.all(place.org.id)).map((row) => serviceAccount(row, since))
    })

    const update = method(
      "ServiceAccounts.update",
      function* (
        place: Place<"service_account.update">,
        id: ServiceAccountId,
        { allowed_networks }: ServiceAccountChanges,
        ifMatch?: string
      ) {
        const row = yield* repo.find({ orgId: place.org.id, id })
        if (row === undefined) return yield* notFound(`service account ${id}`)
        yield* checkRecord(`service account ${row.name}`, ifMatch, etagOf(row))
        if (allowed_networks === undefined) return serviceAccount(row, yield* usedSince)
        const networks = yield* allowedNetworks(allowed_networks, config)
        yield* repo.setNetworks({ id, networks, now: yield* now })
        yield* audit.change(sourceOf(place), {
          action: "service_account.update",
          resource_type: "service_account",
          resource_id: id,
          metadata: {
            name: row.name,
            allowed_networks,
            before: row.allowed_networks === null ? null : networksIn(row.allowed_networks)
          }
        })
        return serviceAccount({ ...row, allowed_networks: networks }, yield* usedSince)
      }
    )

    /** Issues a new key with the lifetime of the first one. Valid keys expire after the grace period. */
    const rotate = method(
      "ServiceAccounts.rotate",
      function* (place: Place<"service_account.rotate">, id: ServiceAccountId, graceSeconds: number = 0) {
        const millis = yield* Clock.currentTimeMillis
        const account = yield* repo.find({ orgId: place.org.id, id })
        if (account === undefined) return yield* notFound(`service account ${id}`)
        yield* repo.removeExpiredKeys({ id, now: timestamp(millis) })
        if (graceSeconds > 0) yield* keyLimit.room(yield* repo.countKeys({ id }))
        const { key, row } = yield* newKey(id, millis, account.expires_in_days)
        yield* graceSeconds === 0
          ? repo.removeKeys({ id, now: timestamp(millis) })
          : repo.endKeys({ id, now: timestamp(millis), end: timestamp(millis + graceSeconds * 1000) })
        yield* repo.insertKey(row)
        yield* audit.change(sourceOf(place), {
          action: "service_account.rotate",
          resource_type: "service_account",
          resource_id: id,
          metadata: { name: account.name, grace_seconds: graceSeconds, expires_at: row.expires_at }
        })
        const rotated: ServiceAccountWithKey = {
          ...serviceAccount(account, yield* usedSince),
          key_hint: row.hint,
          expires_at: row.expires_at,
          api_key: key
        }
        return rotated
      }
    )

    /** Removes an account, its keys, its federations, its access rules and its places in use rules. */
    const revoke = method(
      "ServiceAccounts.revoke",
      function* (place: Place<"service_account.revoke">, id: ServiceAccountId) {
        const removed_at = yield* now
        const account = yield* repo.find({ orgId: place.org.id, id })
        if (account === undefined) return yield* notFound(`service account ${id}`)
        yield* repo.removeKeys({ id, now: removed_at })
        yield* repo.removeFederations({ id, now: removed_at })
        yield* repo.remove({ id, now: removed_at })
        const rules = yield* repo.removeRules({ orgId: place.org.id, id, now: removed_at })
        const departure = yield* departures.endSome({ orgId: place.org.id, subjectId: id })
        yield* audit.change(sourceOf(place), {
          action: "service_account.revoke",
          resource_type: "service_account",
          resource_id: id,
          metadata: { name: account.name, rules_removed: rules.length }
        })
        return departure
      }
    )

    return { create, list, update, rotate, revoke } as const
  })
}) {}
