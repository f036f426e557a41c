import type { Claims } from "@coffer/domain/directory/Claims"
import { IssuerUnavailable } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { generateKeyPairSync, randomBytes } from "node:crypto"
import { now } from "../../base/Time.js"
import { IssuerKeys, retrySeconds } from "./IssuerKeys.js"
import { type Algorithm, keysOf, unverified, verify } from "./Jwks.js"
import { type FederationRow, federationsRepo } from "./Repo.js"

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

/** A random number of 2048 bits instead of a modulus: generating one would delay the start by a second. */
const noModulus = (): string => {
  const bytes = randomBytes(256)
  bytes[0] = 0xff
  bytes[255] = 0xff
  return bytes.toString("base64url")
}

/** Keys that have signed nothing: tokens without a key cost as much as others. */
const makeDecoys = Effect.sync((): Readonly<Record<Algorithm, string>> => {
  const [rsa, ec, ed] = keysOf({
    keys: [
      { kty: "RSA", n: noModulus(), e: "AQAB" },
      { ...generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }) },
      { ...generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) }
    ]
  })
  return { RS256: rsa?.jwk ?? "", ES256: ec?.jwk ?? "", EdDSA: ed?.jwk ?? "" }
})

/** Verifies tokens by the keys of their issuers. */
export class Signatures extends Effect.Service<Signatures>()("@coffer/server/Signatures", {
  effect: Effect.gen(function* () {
    const repo = yield* federationsRepo
    const issuers = yield* IssuerKeys
    const decoys = yield* makeDecoys

    /**
     * Verifies a token for an account, whose id may be of none. Returns null for one whose signature does not hold, and fails
     * with IssuerUnavailable if only the missing keys of the issuer could decide. These are consulted even if the account has no
     * federation with the issuer, and each token is verified once, by a decoy if there is no key: the time would reveal it.
     */
    const verifyFor = Effect.fnUntraced(function* (token: string, accountId: string) {
      const head = unverified(token)
      if (head === null) return null
      const { alg, issuer, kid } = head
      const about = { accountId, alg, issuer, now: yield* now }
      const [uploaded, ...others] = yield* kid === undefined
        ? repo.keysUnnamed(about)
        : repo.keysNamed({ ...about, kid })
      const known = yield* Effect.either(issuers.find(issuer, kid))
      const fetched = Either.getOrNull(known)?.find(kid, alg) ?? null
      const jwk = uploaded === undefined || others.length > 0 ? fetched : uploaded.jwk
      const claims = yield* verify(token, jwk ?? decoys[alg], alg)
      if (jwk === null || claims === null) return Either.isLeft(known) ? yield* unavailable : null
      const federations = yield* repo.ofKey({ ...about, jwk })
      return { issuer, claims, federations: federations.filter(({ has_keys }) => has_keys === 1 || jwk === fetched) }
    })

    return { verify: verifyFor } as const
  }),
  dependencies: [IssuerKeys.Default]
}) {}
