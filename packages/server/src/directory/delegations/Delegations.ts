import type { UserActor } from "@coffer/domain/access/Actor"
import type { AskingProgram } from "@coffer/domain/directory/AskingProgram"
import {
  type DelegablePermission,
  type Delegation,
  maxDelegations,
  type NewDelegation
} from "@coffer/domain/directory/Delegation"
import { LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { DelegationId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Place, sourceOf } from "../../access/Access.js"
import { keysIn } from "../../access/caller/Authenticator.js"
import { notFound } from "../../access/place/NotFound.js"
import { delegationLimit } from "../../access/caller/SessionLimits.js"
import { actorSource } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { ServerConfig } from "../../base/Config.js"
import { timestamp } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { uuidV7 } from "../../base/Uuid.js"
import { Database } from "../../database/Database.js"
import { hashToken, mintToken } from "../../keys/Token.js"
import { environmentsOf } from "./DelegatedEnvironments.js"
import { type DelegationRow, delegationsRepo } from "./Repo.js"

/** The action that a person must be allowed to do in order to delegate a permission. */
export const neededFor = {
  use: "secret.use",
  read: "secret.list",
  write: "secret.write"
} as const satisfies Record<DelegablePermission, string>

export interface DelegationRequest {
  readonly name: string
  readonly permission: DelegablePermission
  readonly keys?: ReadonlyArray<SecretKey>
  readonly reveal?: boolean
  readonly expires_in: number
  /** The program that asked for it by OAuth. */
  readonly program?: AskingProgram
}

const delegationOf = ({
  client_host,
  client_name,
  created_at,
  ends_at,
  keys,
  org_id: _,
  places,
  reveal,
  ...row
}: DelegationRow): Delegation => {
  const only = keysIn(keys)
  return {
    ...row,
    ...environmentsOf(places),
    reveal: reveal === 1,
    ...(only !== null && { keys: [...only] }),
    ...(client_name !== null && { program: { name: client_name, ...(client_host !== null && { host: client_host }) } }),
    created_at: timestamp(created_at),
    expires_at: timestamp(ends_at)
  }
}

/** The delegations of persons: parts of their rights in some environments, for agents and scripts. */
export class Delegations extends Effect.Service<Delegations>()("@coffer/server/Delegations", {
  effect: Effect.gen(function* () {
    const repo = yield* delegationsRepo
    const audit = yield* AuditLog
    const { clock } = yield* Database
    const config = yield* ServerConfig
    const limit = delegationLimit(config)

    /** Makes a delegation at places where the person has the permission. Call it in the transaction that enters them. */
    const create = method(
      "Delegations.create",
      function* (
        entered: Array.NonEmptyReadonlyArray<Place<"secret.use" | "secret.list" | "secret.write">>,
        person: UserActor,
        { expires_in, keys, name, permission, program, reveal = true }: DelegationRequest
      ) {
        if (expires_in * 1_000 > limit.maxMillis) {
          return yield* new ValidationError({
            message: `expires_in: a delegation lasts at most ${config.delegationMaxHours} hours on this server`
          })
        }
        const millis = yield* clock
        const userId = person.id
        if ((yield* repo.live({ userId, ...limit })).length >= maxDelegations) {
          return yield* new LimitExceeded({
            message: `a person has at most ${maxDelegations} delegations: revoke one of them first`
          })
        }
        const token = yield* mintToken("delegation")
        const id = DelegationId.make(yield* uuidV7)
        const places = Array.dedupeWith(entered, (one, other) => one.env.id === other.env.id)
        const [place, ...others] = places
        const only = keys === undefined ? null : [...new Set(keys)].sort()
        const row: DelegationRow = {
          id,
          name,
          org_id: place.org.id,
          org: place.org.name,
          places: Array.map(places, ({ env, project }) => ({ env, project })),
          permission,
          reveal: reveal && permission !== "use" ? 1 : 0,
          keys: only && JSON.stringify(only),
          created_at: millis,
          ends_at: millis + expires_in * 1_000,
          last_used_at: null,
          client_name: program?.name ?? null,
          client_host: program?.host ?? null
        }
        yield* repo.insert({
          id,
          userId,
          orgId: row.org_id,
          envId: place.env.id,
          name,
          hash: hashToken(Redacted.value(token)),
          permission,
          reveal: row.reveal,
          keys: row.keys,
          createdAt: row.created_at,
          endsAt: row.ends_at
        })
        for (const [index, { env }] of others.entries()) {
          yield* repo.insertEnvironment({ id, envId: env.id, position: index + 1 })
        }
        const delegation = delegationOf(row)
        const { also, expires_at } = delegation
        yield* audit.change(sourceOf(place), {
          action: "delegation.create",
          resource_type: "delegation",
          resource_id: id,
          metadata: {
            name,
            permission,
            reveal: delegation.reveal,
            ...(only !== null && { keys: only }),
            ...(also !== undefined && { also: also.map(({ env, project }) => `${project}/${env}`) }),
            expires_at,
            ...(program !== undefined && { asked_by: program.host ?? program.name })
          }
        })
        const made: NewDelegation = { ...delegation, token }
        return made
      }
    )

    /** A person's delegations that have not ended, newest first. */
    const list = method("Delegations.list", function* (person: UserActor) {
      return (yield* repo.live({ userId: person.id, ...limit })).map(delegationOf)
    })

    const revoke = method("Delegations.revoke", function* (person: UserActor, id: DelegationId) {
      const row = yield* repo.find({ id, userId: person.id, ...limit })
      if (row === undefined || (yield* repo.remove({ id, userId: person.id })).length === 0) {
        return yield* notFound(`delegation ${id}`)
      }
      const { name, org_id: orgId, permission, places } = row
      const { env, project } = environmentsOf(places)
      yield* audit.change(
        { ...actorSource(person), orgId, project, env },
        { action: "delegation.revoke", resource_type: "delegation", resource_id: id, metadata: { name, permission } }
      )
    })

    return { create, list, revoke } as const
  })
}) {}
