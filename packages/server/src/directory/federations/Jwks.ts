import type { PublicKeys } from "@coffer/domain/Federation"
import { Effect, Either, Schema } from "effect"
import {
  compactVerify,
  type CompactVerifyGetKey,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importJWK
} from "jose"

/** Never `none`, nor HMAC: their tokens anyone could make who has the public keys. */
export const algorithms = ["RS256", "ES256", "EdDSA"]

/** A key set for the verification of tokens. It knows only its own keys: a token's `jku`, `x5u` and `jwk` are not read. */
export interface KeySet {
  readonly find: CompactVerifyGetKey
  /** Whether a key may be the one that a token names. */
  readonly has: (kid: string | undefined) => boolean
}

const kidOf = (key: Readonly<Record<string, unknown>>): string | null =>
  typeof key["kid"] === "string" ? key["kid"] : null

export const keyIdsOf = ({ keys }: PublicKeys): ReadonlyArray<string | null> => keys.map(kidOf)

/** The members of a public key that are kept (RFC 7517, RFC 7518): a stranger's request reads no others. */
const kept = ["kty", "use", "alg", "kid", "n", "e", "crv", "x", "y"]

/** The longest member that is kept: the modulus of an RSA key of 8,192 bits has 1,366 characters, and an id needs fewer. */
const longest = (name: string): number => (name === "n" ? 1_400 : 256)

/** Whether a key is for signatures, and what is kept of it is short text. */
const isSoundKey = (key: Readonly<Record<string, unknown>>): boolean =>
  kept.every((name) => {
    const member = key[name]
    return member === undefined || (typeof member === "string" && member.length <= longest(name))
  }) &&
  (key["use"] === undefined || key["use"] === "sig") &&
  (key["key_ops"] === undefined || (Array.isArray(key["key_ops"]) && key["key_ops"].includes("verify")))

/** The same keys without other members, such as certificates. */
export const withoutOthers = ({ keys }: PublicKeys): PublicKeys => ({
  keys: keys.map((key) => Object.fromEntries(Object.entries(key).filter(([name]) => kept.includes(name))))
})

const minModulusBits = 2_048
/** Verification takes time by the square of the modulus. */
const maxModulusBits = 8_192
const maxExponent = 2n ** 32n

const numberIn = (text: unknown): bigint =>
  typeof text === "string" && /^[\w-]{1,1400}$/.test(text)
    ? BigInt(`0x0${Buffer.from(text, "base64url").toString("hex")}`)
    : 0n

/**
 * Whether an RSA key can verify signatures: an odd exponent from 3 to 2^32 and a modulus of 2,048 to 8,192 bits (NIST SP
 * 800-131A, FIPS 186-5). With the exponent 1 anybody can sign; an even one has no inverse.
 */
const isSoundRsa = ({ e, kty, n }: Readonly<Record<string, unknown>>): boolean => {
  if (kty !== "RSA") return true
  const exponent = numberIn(e)
  const bits = numberIn(n).toString(2).length
  return (
    exponent >= 3n && exponent < maxExponent && exponent % 2n === 1n && bits >= minModulusBits && bits <= maxModulusBits
  )
}

const KeySetJson = Schema.Struct({ keys: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })) })

/** Parses a JWK Set. Keys for other algorithms than those of tokens are left out. */
export const parseKeySet = (text: string): Either.Either<KeySet, unknown> =>
  Either.flatMap(Schema.decodeUnknownEither(Schema.parseJson(KeySetJson))(text), ({ keys }) =>
    Either.try((): KeySet => {
      const known = keys.flatMap((key) => {
        const { kty } = key
        if (!isSoundRsa(key)) return []
        return kty === "RSA" || kty === "EC" || kty === "OKP" ? [{ ...key, kty }] : []
      })
      const ids = new Set(known.map(kidOf))
      return { find: createLocalJWKSet({ keys: known }), has: (kid) => kid === undefined || ids.has(kid) }
    })
  )

/** The same keys for tokens of any id. */
export const withoutIds = ({ find }: KeySet): KeySet => ({
  find: ({ kid: _, ...header }, token) => find(header, token),
  has: () => true
})

const algorithmOf = ({ crv, kty }: Readonly<Record<string, unknown>>): string | null => {
  if (kty === "RSA") return "RS256"
  if (kty === "EC" && crv === "P-256") return "ES256"
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : null
}

/** Whether tokens can be verified with each of the keys. */
export const areUsable = ({ keys }: PublicKeys): Effect.Effect<boolean> =>
  Effect.every(keys, (key) => {
    const algorithm = algorithmOf(key)
    if (algorithm === null || !isSoundKey(key) || !isSoundRsa(key)) return Effect.succeed(false)
    return Effect.tryPromise(() => importJWK(key, algorithm)).pipe(
      Effect.map((imported) => !(imported instanceof Uint8Array)),
      Effect.orElseSucceed(() => false)
    )
  })

/** What a token says of itself before anything of it is verified. */
export interface Unverified {
  readonly issuer: string | null
  readonly kid: string | undefined
}

export const unverified = (token: string): Unverified => {
  // Libraries also take a signature with padding, of which there would be several spellings.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return { issuer: null, kid: undefined }
  const parts = Either.try(() => ({ claims: decodeJwt(token), header: decodeProtectedHeader(token) }))
  if (Either.isLeft(parts)) return { issuer: null, kid: undefined }
  const { claims, header } = parts.right
  return {
    issuer: typeof claims.iss === "string" ? claims.iss : null,
    kid: typeof header.kid === "string" ? header.kid : undefined
  }
}

const ClaimsJson = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

/** Verifies the signature. Returns the claims, unchecked, or null. */
export const verify = (token: string, keys: KeySet): Effect.Effect<Readonly<Record<string, unknown>> | null> =>
  Effect.tryPromise(() => compactVerify(token, keys.find, { algorithms })).pipe(
    Effect.flatMap(({ payload }) => Schema.decodeUnknown(ClaimsJson)(Buffer.from(payload).toString("utf8"))),
    Effect.orElseSucceed(() => null)
  )
