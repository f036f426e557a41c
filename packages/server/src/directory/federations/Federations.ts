import { actorName } from "@coffer/domain/access/Actor"
import { audienceOf } from "@coffer/domain/directory/Claims"
import { Conflict, ValidationError } from "@coffer/domain/errors/Errors"
import {
  type Conditions,
  defaultMaxAge,
  defaultTtl,
  type Federation,
  type PublicKeys
} from "@coffer/domain/directory/Federation"
import { FederationId, type ServiceAccountId } from "@coffer/domain/base/Ids"
import type { FederationName } from "@coffer/domain/base/Names"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { method } from "../../base/tracing/Traced.js"
import { IssuerKeys } from "./IssuerKeys.js"
import { areUsable, type Key, keysOf } from "./Jwks.js"
import { conditionsOf, type FederationRow, federationsRepo } from "./Repo.js"

export const federationLimit = recordLimit(20, (max) => `a service account has at most ${max} federations`)

export interface NewFederation {
  readonly name: FederationName
  readonly issuer: string
  readonly jwks?: PublicKeys
  readonly conditions: Conditions
  readonly max_age?: number
  readonly ttl?: number
  readonly expires_at?: string
}

/** A token is verified once, whatever an account has: its key must be clear from its id. */
const sameId = (kid: string | null) =>
  new Conflict({
    message: `jwks: two different keys of this issuer and account have ${kid === null ? "no id" : `the id ${kid}`}: give each an id of its own, or revoke the other federation first`
  })

/** Returns the problem with keys of a federation beside all those of the account for the issuer's tokens; null if there is none. */
export const keysProblem = (
  own: ReadonlyArray<Key>,
  all: ReadonlyArray<Omit<Key, "alg"> & { readonly alg: string | null }>
): Conflict | null => {
  const other = all.find(({ alg, jwk, kid }) =>
    own.some((key) => alg !== null && key.alg === alg && key.kid === kid && key.jwk !== jwk)
  )
  return other === undefined ? null : sameId(other.kid)
}

const invalid = (message: string) => new ValidationError({ message })

/** The federations of service accounts: whose tokens they sign in with. */
export class Federations extends Effect.Service<Federations>()("@coffer/server/Federations", {
  effect: Effect.gen(function* () {
    const repo = yield* federationsRepo
    const issuers = yield* IssuerKeys
    const audit = yield* AuditLog
    const { publicUrl } = yield* ServerConfig

    const federation = (row: FederationRow): Effect.Effect<Federation> =>
      Effect.gen(function* () {
        const { has_keys, ...fields } = row
        const key_ids = has_keys === 0 ? null : (yield* repo.keyIdsOf({ id: row.id })).map(({ kid }) => kid)
        return { ...fields, conditions: yield* conditionsOf(row), key_ids }
      })

    const accountOf = Effect.fnUntraced(function* (
      place: Place<"federation.list" | "federation.create" | "federation.revoke">,
      id: ServiceAccountId
    ) {
      const account = yield* repo.findAccount({ orgId: place.org.id, id })
      return account ?? (yield* notFound(`service account ${id}`))
    })

    /** Checks the issuer and its keys. Call it outside of a transaction, because keys are imported. */
    const vet = Effect.fnUntraced(function* ({ issuer, jwks }: NewFederation) {
      if (jwks === undefined) {
        if (issuers.isKnown(issuer)) return
        return yield* invalid(
          "issuer: is not on the server's list: ask an operator to add it to SERVICE_OIDC_MACHINE_ISSUERS, or give its keys as jwks"
        )
      }
      if (yield* areUsable(jwks)) return
      return yield* invalid(
        "jwks: has a key that is neither RSA of 2048 bits or more, nor P-256, nor Ed25519, that is not for signatures, or whose id is longer than 256 characters or has control characters"
      )
    })

    const create = method(
      "Federations.create",
      function* (place: Place<"federation.create">, accountId: ServiceAccountId, request: NewFederation) {
        const { conditions, issuer, jwks, max_age = defaultMaxAge, name, ttl = defaultTtl } = request
        const millis = yield* Clock.currentTimeMillis
        if (publicUrl === null) {
          return yield* invalid(
            "this server cannot take tokens of issuers yet, because their audience names its address: an operator has to set SERVICE_PUBLIC_URL"
          )
        }
        const expires_at = request.expires_at === undefined ? null : timestamp(Date.parse(request.expires_at))
        if (expires_at !== null && expires_at <= timestamp(millis)) return yield* invalid("expires_at: is in the past")
        const account = yield* accountOf(place, accountId)
        yield* federationLimit.room(yield* repo.count({ accountId }))
        if ((yield* repo.findNamed({ accountId, name })) !== undefined) {
          return yield* new Conflict({ message: `the federation name ${name} is in use: choose another` })
        }
        const keys = jwks === undefined ? [] : keysOf(jwks)
        const known = yield* repo.keysFor({ accountId, issuer, now: timestamp(millis) })
        const problem = keysProblem(keys, [...known, ...keys])
        if (problem !== null) return yield* problem
        const made: Federation = {
          id: FederationId.make(yield* uuidV7),
          name,
          issuer,
          audience: audienceOf(publicUrl, place.org.name, account.name),
          conditions,
          key_ids: jwks === undefined ? null : keys.map(({ kid }) => kid),
          max_age,
          ttl,
          expires_at,
          created_by: actorName(place.actor),
          created_at: timestamp(millis),
          last_used_at: null
        }
        const { key_ids: _keys, last_used_at: _used, ...columns } = made
        yield* repo.insert([
          {
            ...{ ...columns, service_account_id: accountId, org_id: place.org.id },
            conditions: JSON.stringify(conditions)
          }
        ])
        yield* repo.insertKeys(keys.map((key, position) => ({ federation_id: made.id, position, ...key })))
        yield* audit.change(sourceOf(place), {
          action: "federation.create",
          resource_type: "federation",
          resource_id: made.id,
          metadata: {
            account: account.name,
            name,
            issuer,
            conditions,
            key_ids: made.key_ids,
            max_age,
            ttl,
            expires_at
          }
        })
        return made
      }
    )

    const list = method("Federations.list", function* (place: Place<"federation.list">, accountId: ServiceAccountId) {
      yield* accountOf(place, accountId)
      return yield* Effect.forEach(yield* repo.all({ accountId }), federation)
    })

    /** Removes a federation. Its sessions are refused from then on, because they are read together with it. */
    const revoke = method(
      "Federations.revoke",
      function* (place: Place<"federation.revoke">, accountId: ServiceAccountId, id: FederationId) {
        const removed_at = yield* now
        const account = yield* accountOf(place, accountId)
        const row = yield* repo.find({ accountId, id })
        if (row === undefined) return yield* notFound(`federation ${id}`)
        yield* repo.remove({ id, now: removed_at })
        yield* audit.change(sourceOf(place), {
          action: "federation.revoke",
          resource_type: "federation",
          resource_id: id,
          metadata: { account: account.name, name: row.name, issuer: row.issuer }
        })
      }
    )

    return { vet, create, list, revoke } as const
  }),
  dependencies: [IssuerKeys.Default]
}) {}
