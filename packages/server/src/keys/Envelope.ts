import { randomBytes } from "node:crypto"
import type { DecryptionFailed } from "@coffer/domain/Errors"
import type { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/Ids"
import type { SecretKey } from "@coffer/domain/Names"
import type { SecretValue } from "@coffer/domain/SecretValues"
import { Brand, Effect, Either, Redacted } from "effect"
import type { Subkeys } from "./Keyring.js"
import { decrypt, encrypt, lengthPrefixed, nonceBytes, refused } from "./Keyring.js"

/** Where a version of a secret belongs. It is authenticated with the value, so a row that was moved does not open. */
export interface Binding {
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly envId: EnvId
  readonly secretId: SecretId
  readonly key: SecretKey
  readonly version: number
}

/** A value encrypted under its own data key, and that key encrypted under the key-encryption key, as their columns. */
export interface Sealed {
  readonly format: number
  readonly kek_id: string
  /** The data key: a nonce of 12 bytes, the ciphertext and a tag of 16 bytes, 60 bytes in all. */
  readonly wrapped_key: Uint8Array
  /** The value, in the same form. */
  readonly ciphertext: Uint8Array
}

const format = 1
const dataKeyBytes = 32

/** A wrapped data key without its nonce: what earlier schemas stored as one column, and what an erasure looks for. */
export const keyWithoutNonce = (wrapped_key: Uint8Array): Uint8Array => wrapped_key.subarray(nonceBytes)

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
  const keyNonce = random.subarray(dataKeyBytes + nonceBytes)
  const sealed: Sealed = {
    format,
    kek_id: keyring.kekId,
    wrapped_key: encrypt(keyring.kek, keyNonce, dataKeyData(keyring.kekId, binding), dataKey),
    ciphertext: encrypt(dataKey, nonce, valueData(binding), Buffer.from(Redacted.value(value)))
  }
  dataKey.fill(0)
  return sealed
}

const unwrapDataKey = (keyring: Subkeys, binding: Binding, sealed: Sealed): Either.Either<Buffer, DecryptionFailed> =>
  sealed.format !== format || sealed.kek_id !== keyring.kekId
    ? refused()
    : decrypt(keyring.kek, dataKeyData(keyring.kekId, binding), sealed.wrapped_key)

/** As `open`, at once: for the many secrets of a bundle. */
export const openEither = (
  keyring: Subkeys,
  binding: Binding,
  sealed: Sealed
): Either.Either<Redacted.Redacted<SecretValue>, DecryptionFailed> =>
  Either.flatMap(unwrapDataKey(keyring, binding, sealed), (dataKey) => {
    const value = decrypt(dataKey, valueData(binding), sealed.ciphertext)
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
      const wrapped_key = encrypt(to.kek, randomBytes(nonceBytes), dataKeyData(to.kekId, binding), dataKey)
      dataKey.fill(0)
      return { ...sealed, kek_id: to.kekId, wrapped_key }
    })
  )
