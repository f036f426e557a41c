import type { KeyObject } from "node:crypto"
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from "node:crypto"
import { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { counter } from "../base/Metrics.js"
import { ServerConfig } from "../base/Config.js"

/** The keys derived from the master key. Each key object holds 32 bytes, which are not shown when it is printed. */
export interface Subkeys {
  /** Id of the key-encryption key, stored with everything wrapped by it: 16 hex characters. */
  readonly kekId: string
  /** Id of the master key in the names of backups: 16 hex characters. */
  readonly fingerprint: string
  readonly kek: KeyObject
  readonly backupKey: KeyObject
  readonly loginCodeKey: KeyObject
  readonly loginFlowKey: KeyObject
  readonly pushDigestKey: KeyObject
}

export class Keyring extends Context.Tag("@coffer/server/Keyring")<Keyring, Subkeys>() {}

export class InvalidMasterKey extends Data.TaggedError("InvalidMasterKey") {
  override readonly message = "the master key must be 64 hex characters (256 bits)"
}

const labels = {
  kek: "coffer/v1/key-encryption",
  backupKey: "coffer/v1/backup",
  loginCodeKey: "coffer/v1/login-code",
  loginFlowKey: "coffer/v1/login-flow",
  pushDigestKey: "coffer/v1/push-digest",
  kekId: "coffer/v1/key-id",
  fingerprint: "coffer/v1/fingerprint"
} as const

/**
 * Derives the subkeys with HKDF-SHA256 (RFC 5869) without salt, one `info` label each. Fails with `InvalidMasterKey`
 * unless the key is 64 hex digits: `hkdfSync` would accept an empty one.
 */
export const makeKeyring = (masterKey: Redacted.Redacted): Effect.Effect<Subkeys, InvalidMasterKey> =>
  Effect.suspend(() => {
    const text = Redacted.value(masterKey)
    if (!/^[0-9a-fA-F]{64}$/.test(text)) {
      return new InvalidMasterKey()
    }
    const bytes = Buffer.from(text, "hex")
    const derive = (label: string, length: number) => Buffer.from(hkdfSync("sha256", bytes, "", label, length))
    const key = (label: string) => {
      const subkey = derive(label, 32)
      const object = createSecretKey(subkey)
      subkey.fill(0)
      return object
    }
    const subkeys: Subkeys = {
      kekId: derive(labels.kekId, 8).toString("hex"),
      fingerprint: derive(labels.fingerprint, 8).toString("hex"),
      kek: key(labels.kek),
      backupKey: key(labels.backupKey),
      loginCodeKey: key(labels.loginCodeKey),
      loginFlowKey: key(labels.loginFlowKey),
      pushDigestKey: key(labels.pushDigestKey)
    }
    bytes.fill(0)
    return Effect.succeed(subkeys)
  })

/** Counts failed decryptions of data of the database or a backup. */
export const decryptionFailures = counter(
  "coffer_decryption_failures_total",
  "Secrets and backups that failed to decrypt"
)

export const nonceBytes = 12
export const tagBytes = 16

const cipher = "aes-256-gcm"

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D), and returns nonce, ciphertext and 16-byte tag in one byte string. The
 * nonce has 12 bytes and must never be used twice with the same key.
 */
export const encrypt = (key: KeyObject | Uint8Array, nonce: Uint8Array, aad: Uint8Array, plaintext: Uint8Array) => {
  const gcm = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(aad)
  return Buffer.concat([nonce, gcm.update(plaintext), gcm.final(), gcm.getAuthTag()])
}

/** Decrypts the result of `encrypt`. Returns a left if it is too short or its tag does not match. */
export const decrypt = (
  key: KeyObject | Uint8Array,
  aad: Uint8Array,
  encrypted: Uint8Array
): Either.Either<Buffer, DecryptionFailed> => {
  const end = encrypted.length - tagBytes
  return end < nonceBytes
    ? refused()
    : Either.try({
        try: () => {
          const gcm = createDecipheriv(cipher, key, encrypted.subarray(0, nonceBytes), { authTagLength: tagBytes })
            .setAAD(aad)
            .setAuthTag(encrypted.subarray(end))
          const plaintext = gcm.update(encrypted.subarray(nonceBytes, end))
          // Throws unless the tag matches, so unauthenticated plaintext is never returned.
          gcm.final()
          return plaintext
        },
        catch: decryptionFailed
      })
}

const decryptionFailed = () => new DecryptionFailed({ message: "what is stored does not authenticate" })

export const refused = (): Either.Either<never, DecryptionFailed> => Either.left(decryptionFailed())

const lengthBytes = 4

/** The length prefixes of fields, indexed by the number of ASCII characters. */
const prefixes = Array.from({ length: 128 }, (_, length) => `\0\0\0${String.fromCharCode(length)}`)

const fieldByField = (fields: ReadonlyArray<string>): Buffer => {
  const size = fields.reduce((sum, field) => sum + lengthBytes + Buffer.byteLength(field), 0)
  const bytes = Buffer.allocUnsafe(size)
  let offset = 0
  for (const field of fields) {
    const length = bytes.write(field, offset + lengthBytes)
    bytes.writeUInt32BE(length, offset)
    offset += lengthBytes + length
  }
  return bytes
}

/** Joins fields unambiguously: each is its length in bytes (32 bits, big-endian), followed by its UTF-8. */
export const lengthPrefixed = (...fields: ReadonlyArray<string>): Buffer => {
  // Nearly all fields are short ASCII: encoding them as one string costs half as much.
  let text = ""
  for (const field of fields) {
    const prefix = prefixes[field.length]
    if (prefix === undefined) return fieldByField(fields)
    text += prefix + field
  }
  const bytes = Buffer.from(text)
  return bytes.length === text.length ? bytes : fieldByField(fields)
}

/** The columns of a small item wrapped by the key-encryption key, such as the audit key. */
export interface Wrapped {
  readonly format: number
  readonly kek_id: string
  readonly nonce: Uint8Array
  readonly ciphertext: Uint8Array
}

const format = 1

const wrapData = (keyring: Subkeys, purpose: string) =>
  lengthPrefixed(String(format), "coffer/wrap", purpose, keyring.kekId)

/** Wraps bytes with the key-encryption key. They unwrap only for the same `purpose`. */
export const wrapBytes = (keyring: Subkeys, purpose: string, bytes: Uint8Array): Effect.Effect<Wrapped> =>
  Effect.sync(() => {
    const encrypted = encrypt(keyring.kek, randomBytes(nonceBytes), wrapData(keyring, purpose), bytes)
    return {
      format,
      kek_id: keyring.kekId,
      nonce: encrypted.subarray(0, nonceBytes),
      ciphertext: encrypted.subarray(nonceBytes)
    }
  })

/** Unwraps bytes. Fails with `DecryptionFailed` for another key or purpose, an unknown format, or edited columns. */
export const unwrapBytes = (
  keyring: Subkeys,
  purpose: string,
  wrapped: Wrapped
): Effect.Effect<Uint8Array, DecryptionFailed> =>
  Effect.suspend(() =>
    wrapped.format !== format || wrapped.kek_id !== keyring.kekId || wrapped.nonce.length !== nonceBytes
      ? refused()
      : decrypt(keyring.kek, wrapData(keyring, purpose), Buffer.concat([wrapped.nonce, wrapped.ciphertext]))
  )

/** The keyring of the configured master key. */
export const KeyringLive = Layer.effect(
  Keyring,
  Effect.flatMap(ServerConfig, ({ masterKey }) => makeKeyring(masterKey))
)
