import * as Either from "effect/Either"
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto"
import { decrypt, encrypt, lengthPrefixed, nonceBytes } from "./Keyring.js"

const saltBytes = 32

/** A key for each text: strangers can have any number sealed, and random nonces under one key would repeat. */
const keyFor = (key: KeyObject, salt: Uint8Array, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync("sha256", key, salt, purpose, 32)))

/** Seals a text that a client keeps: AES-256-GCM, in base64url. It opens only for the same `purpose`. */
export const sealText = (key: KeyObject, purpose: string, text: string): string => {
  const salt = randomBytes(saltBytes)
  const sealed = encrypt(
    keyFor(key, salt, purpose),
    randomBytes(nonceBytes),
    lengthPrefixed(purpose),
    Buffer.from(text)
  )
  return Buffer.concat([salt, sealed]).toString("base64url")
}

/** Opens a sealed text. Returns null if it was sealed with another key or for another purpose, or was altered. */
export const openText = (key: KeyObject, purpose: string, sealed: string): string | null => {
  const bytes = Buffer.from(sealed, "base64url")
  if (bytes.length <= saltBytes) return null
  const salt = bytes.subarray(0, saltBytes)
  return Either.match(decrypt(keyFor(key, salt, purpose), lengthPrefixed(purpose), bytes.subarray(saltBytes)), {
    onLeft: () => null,
    onRight: (plain) => plain.toString("utf8")
  })
}
