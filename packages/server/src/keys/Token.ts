import { hash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

export type TokenKind = "session" | "delegation" | "apiKey" | "federated" | "keySession" | "webhook" | "scim"

const prefixes: Readonly<Record<TokenKind, string>> = {
  session: "svc_st_",
  delegation: "svc_dt_",
  apiKey: "svc_sa_",
  federated: "svc_ft_",
  keySession: "svc_kt_",
  webhook: "svc_wh_",
  scim: "svc_sc_"
}
const prefixLength = 7
const randomLength = 43
const checksumLength = 6

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Uniform by rejection sampling: of the 64 values of six random bits, the two beyond the alphabet are discarded. */
const randomCharacters = (): string => {
  let text = ""
  while (text.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      text += text.length < randomLength ? alphabet.charAt(byte & 63) : ""
    }
  }
  return text
}

/** The CRC-32 (ISO 3309, as in zlib) of the random characters without the prefix, in base62 with leading zeros. */
const checksum = (random: string): string => {
  let rest = crc32(random)
  let text = ""
  for (let digit = 0; digit < checksumLength; digit++) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/**
 * Returns the token of a session (`svc_st_…`, or `svc_ft_…` and `svc_kt_…` of a service account) or of a delegation (`svc_dt_…`), an
 * API key (`svc_sa_…`), the token of a directory (`svc_sc_…`) or the signing key of a webhook (`svc_wh_…`): the prefix, 43 random base62 characters (256 bits) and their CRC-32 in 6 more. Secret scanners recognize this form, and mistyped tokens are
 * rejected without a lookup.
 */
export const mintToken = (kind: TokenKind): Effect.Effect<Redacted.Redacted> =>
  Effect.sync(() => {
    const random = randomCharacters()
    return Redacted.make(prefixes[kind] + random + checksum(random))
  })

/** Whether a text begins as a token of a kind. */
export const hasPrefix = (kind: TokenKind, text: string): boolean => text.startsWith(prefixes[kind])

/** Whether a text has a token's prefix, length, alphabet and checksum. The token may still not exist. */
export const isWellFormed = (kind: TokenKind, text: string): boolean => {
  const end = prefixLength + randomLength
  return (
    text.length === end + checksumLength &&
    text.startsWith(prefixes[kind]) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefixLength)) &&
    checksum(text.slice(prefixLength, end)) === text.slice(end)
  )
}

/** The stored form of a token: its SHA-256 in lowercase hex. A slow hash is unnecessary for 256 random bits. */
export const hashToken = (text: string): string => hash("sha256", text, "hex")

/** The last four characters, which belong to the checksum: they tell keys apart and do not help to guess one. */
export const keyHint = (text: string): string => text.slice(-4)
