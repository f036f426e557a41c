import type { PublicKeys } from "@coffer/domain/directory/Federation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK } from "jose"

/** Never `none`, nor HMAC: their tokens anyone could make who has the public keys. */
const Algorithm = Schema.Literal("RS256", "ES256", "EdDSA")
export type Algorithm = typeof Algorithm.Type
const isAlgorithm = Schema.is(Algorithm)

type Members = Readonly<Record<string, unknown>>

/** A public key, for tokens that name its id. */
export interface Key {
  readonly kid: string | null
  /** The algorithm of the tokens that it verifies; null: it is for something else. */
  readonly alg: Algorithm | null
  /** JSON of the members that its thumbprint is made of (RFC 7638): equal keys are equal text. */
  readonly jwk: string
}

/** The keys of an issuer. */
export interface KeySet {
  /** Returns the only key that may be the one of a token; null if there is none, or more than one. */
  readonly find: (kid: string | undefined, alg: Algorithm) => string | null
  /** Whether a key may be the one that a token names. */
  readonly has: (kid: string | undefined) => boolean
}

const algorithmOf = ({ crv, kty }: Members): Algorithm | null => {
  if (kty === "RSA") return "RS256"
  if (kty === "EC" && crv === "P-256") return "ES256"
  return kty === "OKP" && crv === "Ed25519" ? "EdDSA" : null
}

const isForSignatures = ({ key_ops, use }: Members): boolean =>
  (use === undefined || use === "sig") &&
  (key_ops === undefined || (Array.isArray(key_ops) && key_ops.includes("verify")))

const thumbprintOf = ({ crv, e, kty, n, x, y }: Members): Members => {
  if (kty === "RSA") return { e, kty, n }
  return kty === "EC" ? { crv, kty, x, y } : { crv, kty, x }
}

const keyOf = (key: Members): Key => {
  const algorithm = isForSignatures(key) ? algorithmOf(key) : null
  return {
    kid: typeof key["kid"] === "string" ? key["kid"] : null,
    alg: key["alg"] === undefined || key["alg"] === algorithm ? algorithm : null,
    jwk: JSON.stringify(thumbprintOf(key))
  }
}

/** Returns the stored parts of uploaded keys: a stranger's request reads no other members. */
export const keysOf = ({ keys }: PublicKeys): ReadonlyArray<Key> => keys.map(keyOf)

/** The members of a public key that are read (RFC 7517, RFC 7518). */
const read = ["kty", "use", "alg", "kid", "n", "e", "crv", "x", "y"]

/** The longest member that is read: the modulus of an RSA key of 8,192 bits has 1,366 characters, and an id needs fewer. */
const longest = (name: string): number => (name === "n" ? 1_400 : 256)

/** Whether text can be stored: PostgreSQL has no NUL, and neither engine half of a surrogate pair. */
const isStorable = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text)

/** Whether a key is for signatures, and what is read of it is short text. */
const isSoundKey = (key: Members): boolean =>
  read.every((name) => {
    const member = key[name]
    return member === undefined || (typeof member === "string" && member.length <= longest(name) && isStorable(member))
  }) && isForSignatures(key)

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
const isSoundRsa = ({ e, kty, n }: Members): boolean => {
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
  Either.map(Schema.decodeUnknownEither(Schema.parseJson(KeySetJson))(text), ({ keys }): KeySet => {
    const known = keys.filter(isSoundRsa).map(keyOf)
    const ids = new Set(known.map(({ kid }) => kid))
    return {
      find: (kid, alg) => {
        const fitting = known.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid))
        const [only, ...others] = new Set(fitting.map(({ jwk }) => jwk))
        return only === undefined || others.length > 0 ? null : only
      },
      has: (kid) => kid === undefined || ids.has(kid)
    }
  })

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

/** The claims of a token about itself, before any of it is verified. Its `jku`, `x5u` and `jwk` are not read. */
export interface Unverified {
  readonly alg: Algorithm
  readonly issuer: string
  readonly kid: string | undefined
}

/** Returns null for a token that no key verifies. */
export const unverified = (token: string): Unverified | null => {
  // Libraries also take a signature with padding, of which there would be several spellings.
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
  const parts = Either.try(() => ({ claims: decodeJwt(token), header: decodeProtectedHeader(token) }))
  if (Either.isLeft(parts)) return null
  const { alg } = parts.right.header
  const issuer: unknown = parts.right.claims.iss
  const kid = typeof parts.right.header.kid === "string" ? parts.right.header.kid : undefined
  return isAlgorithm(alg) && typeof issuer === "string" && isStorable(`${issuer} ${kid ?? ""}`)
    ? { alg, issuer, kid }
    : null
}

const ObjectJson = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
const decodeObject = Schema.decodeUnknown(ObjectJson)

/** Verifies the signature by a key. Returns the claims, unchecked, or null. */
export const verify = (token: string, jwk: string, alg: Algorithm): Effect.Effect<Members | null> =>
  Effect.gen(function* () {
    const members = yield* Effect.filterOrFail(decodeObject(jwk), isSoundRsa)
    const key = yield* Effect.tryPromise(() => importJWK(members, alg))
    const { payload } = yield* Effect.tryPromise(() => compactVerify(token, key, { algorithms: [alg] }))
    return yield* decodeObject(Buffer.from(payload).toString("utf8"))
  }).pipe(Effect.orElseSucceed(() => null))
