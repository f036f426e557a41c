import type { ArchivedAccount, ArchivedFederation } from "@coffer/domain/archive/ArchivedOrganization"
import { FederationId, type ServiceAccountId } from "@coffer/domain/base/Ids"
import type { ServiceAccountName } from "@coffer/domain/base/Names"
import { audienceOf } from "@coffer/domain/directory/Claims"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ServerConfig } from "../../base/Config.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { arrived, type Arriving } from "../archives/Arriving.js"
import { phase, type Phase, rowsAtOnce } from "../archives/Phases.js"
import { Federations, keysProblem } from "./Federations.js"
import { type Key, keysOf } from "./Jwks.js"
import { conditionsOf, federationsRepo } from "./Repo.js"

const decodeKey = Schema.decode(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown })))

/** Federations in archives. Their audiences stay behind: they name the address of the server. */
export const federationsArchive = Effect.gen(function* () {
  const repo = yield* federationsRepo
  const { vet } = yield* Federations
  const { publicUrl } = yield* ServerConfig

  const keysIn = Effect.fnUntraced(function* (id: FederationId) {
    const keys = yield* Effect.forEach(yield* repo.keysOf({ id }), ({ alg, jwk, kid }) =>
      Effect.map(decodeKey(jwk), (members) => ({
        ...members,
        ...(kid !== null && { kid }),
        // For something else than tokens, which the key does not say.
        ...(alg === null && { alg: "none" })
      }))
    )
    return keys.length === 0 ? {} : { jwks: { keys } }
  }, Effect.orDie)

  const read = (accountId: ServiceAccountId) =>
    Effect.flatMap(repo.all({ accountId }), (rows) =>
      Effect.forEach(rows, (row) =>
        Effect.map(
          Effect.all([row.has_keys === 0 ? Effect.succeed({}) : keysIn(row.id), conditionsOf(row)]),
          ([keys, conditions]) => {
            const { expires_at, issuer, max_age, name, ttl } = row
            return { name, issuer, ...keys, conditions, max_age, ttl, ...(expires_at !== null && { expires_at }) }
          }
        )
      )
    )

  /** Leaves out the federations of an account that this server would not make, with a note on each. */
  const admit = Effect.fnUntraced(function* ({ federations, name }: ArchivedAccount, leave: (note: string) => void) {
    const at = yield* now
    const known = new Map<string, ReadonlyArray<Key>>()
    const keysProblemOf = ({ expires_at, issuer, jwks }: ArchivedFederation) => {
      if (jwks === undefined || (expires_at !== undefined && expires_at <= at)) return null
      const own = keysOf(jwks)
      const all = [...(known.get(issuer) ?? []), ...own]
      const problem = keysProblem(own, all)
      if (problem === null) known.set(issuer, all)
      return problem?.message ?? null
    }
    const problemOf = (federation: ArchivedFederation) =>
      publicUrl === null
        ? Effect.succeed("this server has no public address")
        : Effect.match(vet(federation), {
            onFailure: ({ message }) => message,
            onSuccess: () => keysProblemOf(federation)
          })
    const kept: Array<ArchivedFederation> = []
    // In order: `Effect.filter` decides on the last one first.
    for (const federation of federations) {
      const problem = yield* problemOf(federation)
      if (problem === null) kept.push(federation)
      else leave(`federation ${federation.name} of service account ${name}: ${problem}`)
    }
    return kept
  })

  /** Writes the federations of accounts that have these ids. */
  const write = (
    { id: org_id, importer: { email: created_by }, name: org, structure }: Arriving,
    accounts: Effect.Effect<ReadonlyMap<ServiceAccountName, ServiceAccountId>>
  ): Phase<never> => {
    const all = publicUrl === null ? [] : structure.accounts
    const found = all.flatMap(({ federations, name: account }) =>
      federations.map((federation) => ({
        ...{ account, federation, audience: audienceOf(publicUrl ?? "", org, account) },
        keys: federation.jwks === undefined ? [] : keysOf(federation.jwks)
      }))
    )
    const writeOne = Effect.fnUntraced(function* (
      ids: ReadonlyMap<ServiceAccountName, ServiceAccountId>,
      { account, audience, federation, keys }: (typeof found)[number]
    ) {
      const { conditions, expires_at, jwks: _jwks, ...fields } = federation
      const service_account_id = yield* arrived(ids, account)
      const id = FederationId.make(yield* uuidV7)
      const created_at = yield* now
      yield* repo.insert([
        {
          ...{
            ...fields,
            id,
            service_account_id,
            org_id,
            audience,
            expires_at: expires_at ?? null,
            created_by,
            created_at
          },
          conditions: JSON.stringify(conditions)
        }
      ])
      yield* repo.insertKeys(keys.map((key, position) => ({ federation_id: id, position, ...key })))
    })
    return phase(
      found,
      Effect.map(accounts, (ids) => (some) => Effect.forEach(some, (one) => writeOne(ids, one), { discard: true })),
      Math.max(1, ...new Set(found.map(({ keys }) => 1 + keys.length)))
    )
  }

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

  return { read, admit, write, renameAudiences } as const
})
