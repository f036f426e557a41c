import { hash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"
import { Effect, Redacted } from "effect"

export type TokenKind = "session" | "apiKey"

const prefixes: Readonly<Record<TokenKind, string>> = { session: "svc_st_", apiKey: "svc_sa_" }
const prefixLength = 7
const randomLength = 43
const checksumLength = 6

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Each character is equally likely: of the 64 values of six random bits, the two beyond the alphabet are drawn again. */
const randomCharacters = (): string => {
  let text = ""
  while (text.length < randomLength) {
    for (const byte of randomBytes(randomLength)) {
      text += text.length < randomLength ? alphabet.charAt(byte & 63) : ""
    }
  }
  return text
}

/** The CRC-32 (ISO 3309, as in zlib) of the random characters, without the prefix, as base62 with leading zeros. */
const checksum = (random: string): string => {
  let rest = crc32(random)
  let text = ""
  for (let place = 0; place < checksumLength; place++) {
    text = alphabet.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/**
 * Makes a session token (`svc_st_…`) or an API key (`svc_sa_…`): the prefix, 43 random base62 characters (256 bits) and
 * 6 that are their CRC-32, so that scanners for leaked secrets find it and a mistyped one is refused before any lookup.
 */
export const mintToken = (kind: TokenKind): Effect.Effect<Redacted.Redacted> =>
  Effect.sync(() => {
    const random = randomCharacters()
    return Redacted.make(prefixes[kind] + random + checksum(random))
  })

/** Whether the text has a token's prefix, length, alphabet and checksum. None of these is secret; it may still not exist. */
export const isWellFormed = (kind: TokenKind, text: string): boolean => {
  const end = prefixLength + randomLength
  return (
    text.length === end + checksumLength &&
    text.startsWith(prefixes[kind]) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefixLength)) &&
    checksum(text.slice(prefixLength, end)) === text.slice(end)
  )
}

/** The form a token is stored and looked up in: its SHA-256 in lowercase hex. 256 random bits need no slower hash. */
export const hashToken = (text: string): string => hash("sha256", text, "hex")

/** The last four characters, all of the checksum: enough to tell keys apart, nothing to guess one by. */
export const keyHint = (text: string): string => text.slice(-4)
