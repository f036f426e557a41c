import { randomBytes } from "node:crypto"
import type { DecryptionFailed } from "@coffer/domain/Errors"
import type { EnvId, OrgId, ProjectId, SecretId, SecretKey, SecretValue } from "@coffer/domain/Names"
import { Brand, Effect, Either, Redacted } from "effect"
import type { Subkeys } from "./Keyring.js"
import { decrypt, encrypt, lengthPrefixed, nonceBytes, refused, tagBytes } from "./Keyring.js"

/** Where a version of a secret belongs. It is authenticated with the value, so a row that was moved does not open. */
export interface Binding {
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly envId: EnvId
  readonly secretId: SecretId
  readonly key: SecretKey
  readonly version: number
}

/**
 * A value under a data key of its own, and that key under the key-encryption key, as their columns. Nonces have 12 bytes;
 * `ciphertext` and `wrapped_key` end in a tag of 16.
 */
export interface Sealed {
  readonly format: number
  readonly kek_id: string
  readonly ciphertext: Uint8Array
  readonly nonce: Uint8Array
  readonly wrapped_key: Uint8Array
  readonly key_nonce: Uint8Array
}

const format = 1
const dataKeyBytes = 32
export const wrappedKeyBytes = dataKeyBytes + tagBytes

// The value's does not name the key-encryption key: a rotation re-wraps data keys and leaves values as they are.
const valueData = (binding: Binding) =>
  lengthPrefixed(String(format), "coffer/value", binding.secretId, String(binding.version))

const dataKeyData = (kekId: string, binding: Binding) =>
  lengthPrefixed(
    String(format),
    "coffer/data-key",
    kekId,
    binding.orgId,
    binding.projectId,
    binding.envId,
    binding.secretId,
    binding.key,
    String(binding.version)
  )

// What was sealed was a value, and the tag vouches for it: no need to check the rule again.
const secretValue = Brand.nominal<SecretValue>()

/** Seals a value by AES-256-GCM (NIST SP 800-38D) under a fresh data key, with fresh random nonces. */
export const seal = (keyring: Subkeys, binding: Binding, value: Redacted.Redacted<SecretValue>): Sealed => {
  // Drawn at once: asking for random bytes costs far more than the bytes.
  const random = randomBytes(dataKeyBytes + 2 * nonceBytes)
  const dataKey = random.subarray(0, dataKeyBytes)
  const nonce = random.subarray(dataKeyBytes, dataKeyBytes + nonceBytes)
  const key_nonce = random.subarray(dataKeyBytes + nonceBytes)
  const sealed: Sealed = {
    format,
    kek_id: keyring.kekId,
    ciphertext: encrypt(dataKey, nonce, valueData(binding), Buffer.from(Redacted.value(value))),
    nonce,
    wrapped_key: encrypt(keyring.kek, key_nonce, dataKeyData(keyring.kekId, binding), dataKey),
    key_nonce
  }
  dataKey.fill(0)
  return sealed
}

const unwrapDataKey = (keyring: Subkeys, binding: Binding, sealed: Sealed): Either.Either<Buffer, DecryptionFailed> =>
  sealed.format !== format || sealed.kek_id !== keyring.kekId || sealed.wrapped_key.length !== wrappedKeyBytes
    ? refused()
    : decrypt(keyring.kek, sealed.key_nonce, dataKeyData(keyring.kekId, binding), sealed.wrapped_key)

/** As `open`, at once: for the many secrets of a bundle. */
export const openEither = (
  keyring: Subkeys,
  binding: Binding,
  sealed: Sealed
): Either.Either<Redacted.Redacted<SecretValue>, DecryptionFailed> =>
  Either.flatMap(unwrapDataKey(keyring, binding, sealed), (dataKey) => {
    const value = decrypt(dataKey, sealed.nonce, valueData(binding), sealed.ciphertext)
    dataKey.fill(0)
    return Either.map(value, (bytes) => Redacted.make(secretValue(bytes.toString())))
  })

/** Opens what `seal` made. Fails with `DecryptionFailed` when anything was edited or moved, or belongs to another key. */
export const open = (
  keyring: Subkeys,
  binding: Binding,
  sealed: Sealed
): Effect.Effect<Redacted.Redacted<SecretValue>, DecryptionFailed> =>
  Effect.suspend(() => openEither(keyring, binding, sealed))

/**
 * Wraps the data key anew under another master key's key-encryption key; the value and its nonce stay as they are.
 *
 * Fails with `DecryptionFailed` when the data key does not unwrap. The value itself is not opened.
 */
export const rewrap = (
  from: Subkeys,
  to: Subkeys,
  binding: Binding,
  sealed: Sealed
): Effect.Effect<Sealed, DecryptionFailed> =>
  Effect.suspend(() =>
    Either.map(unwrapDataKey(from, binding, sealed), (dataKey): Sealed => {
      const key_nonce = randomBytes(nonceBytes)
      const wrapped_key = encrypt(to.kek, key_nonce, dataKeyData(to.kekId, binding), dataKey)
      dataKey.fill(0)
      return { ...sealed, kek_id: to.kekId, wrapped_key, key_nonce }
    })
  )
