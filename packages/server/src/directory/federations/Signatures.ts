import type { Claims } from "@coffer/domain/Claims"
import { IssuerUnavailable } from "@coffer/domain/Errors"
import type { FederationId } from "@coffer/domain/Ids"
import { Effect, Either } from "effect"
import { generateKeyPairSync, randomBytes } from "node:crypto"
import { now } from "../../base/Time.js"
import { IssuerKeys, retrySeconds } from "./IssuerKeys.js"
import { type KeySet, parseKeySet, unverified, verify, withoutIds } from "./Jwks.js"
import { type FederationRow, FederationsRepo } from "./Repo.js"

/** A token whose signature holds: by the keys of its issuer, or of at least one federation. */
export interface Verified {
  readonly issuer: string
  readonly claims: Claims
  /** The federations of the account whose keys are those of the signature. */
  readonly federations: ReadonlyArray<FederationRow>
}

const unavailable = new IssuerUnavailable({
  message: `the keys of the token's issuer cannot be fetched now: try again in ${retrySeconds} seconds`,
  retryAfter: retrySeconds
})

/** A number of 2048 bits that is no modulus: a real one would take the start a second. */
const noModulus = (): string => {
  const bytes = randomBytes(256)
  bytes[0] = 0xff
  bytes[255] = 0xff
  return bytes.toString("base64url")
}

/** Keys that have signed nothing, for any algorithm and any id: tokens of unknown issuers cost as much as others. */
const decoyKeys = Effect.suspend(() => {
  const keys = [
    { kty: "RSA", n: noModulus(), e: "AQAB" },
    generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }),
    generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" })
  ]
  return Effect.orDie(Effect.map(parseKeySet(JSON.stringify({ keys })), withoutIds))
})

/** How many parsed key sets are kept: a set has up to 20 keys of 2 KB. */
const maxParsed = 250

/** Verifies tokens by the keys of their issuers. */
export class Signatures extends Effect.Service<Signatures>()("@coffer/server/Signatures", {
  effect: Effect.gen(function* () {
    const repo = yield* FederationsRepo
    const issuers = yield* IssuerKeys
    const decoy = yield* decoyKeys

    /** The parsed keys of federations, the latest used last: requests of strangers do not parse them again. */
    const parsed = new Map<FederationId, KeySet | null>()

    const uploadedKeys = Effect.fnUntraced(function* ({ id }: FederationRow) {
      const known = parsed.get(id)
      const keys = known === undefined ? Either.getOrNull(parseKeySet((yield* repo.keysOf({ id }))?.jwks ?? "")) : known
      parsed.delete(id)
      parsed.set(id, keys)
      const [oldest] = parsed.keys()
      if (parsed.size > maxParsed && oldest !== undefined) parsed.delete(oldest)
      return keys
    })

    /**
     * Verifies a token for an account, whose id may be of none. Returns null for one whose signature does not hold, and fails
     * with IssuerUnavailable if only the missing keys of the issuer could tell. These are consulted even if the account has no
     * federation with the issuer, which the time would tell.
     */
    const verifyFor = Effect.fnUntraced(function* (token: string, accountId: string) {
      const { issuer, kid } = unverified(token)
      const federations = yield* repo.ofIssuer({ accountId, issuer: issuer ?? "", now: yield* now })
      const known = issuer === null ? Either.right(null) : yield* Effect.either(issuers.find(issuer, kid))
      const keys = Either.getOrNull(known)
      const claims = yield* verify(token, keys ?? decoy)
      const signed: Array<FederationRow> = []
      let found = claims
      for (const federation of federations) {
        const uploaded = federation.has_keys === 1 ? yield* uploadedKeys(federation) : null
        const own =
          federation.has_keys === 0 ? claims : uploaded?.has(kid) === true ? yield* verify(token, uploaded) : null
        if (own === null) continue
        found = own
        signed.push(federation)
      }
      if (found === null && Either.isLeft(known)) return yield* unavailable
      return issuer === null || found === null ? null : { issuer, claims: found, federations: signed }
    })

    return { verify: verifyFor } as const
  }),
  dependencies: [FederationsRepo.Default, IssuerKeys.Default]
}) {}
