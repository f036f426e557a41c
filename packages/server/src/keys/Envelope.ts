import { randomBytes } from "node:crypto"
import type { DecryptionFailed } from "@coffer/domain/errors/Errors"
import type { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { SecretKind } from "@coffer/domain/secrets/Secret"
import type { SecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Subkeys } from "./Keyring.js"
import { decrypt, encrypt, lengthPrefixed, nonceBytes, refused } from "./Keyring.js"

export type Value = Redacted.Redacted<SecretValue>

/** The identity of a version of a secret. It is authenticated with the value, so a moved row does not decrypt. */
export interface Binding {
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly envId: EnvId
  readonly secretId: SecretId
  readonly key: SecretKey
  readonly version: number
}

/** The format of each kind of value. The format is authenticated, so that a text cannot pass for a reference. */
const formats = { text: 1, reference: 2 } as const satisfies Record<SecretKind, number>

export const formatOf = (kind: SecretKind): number => formats[kind]

const knownFormats: ReadonlySet<number> = new Set(Object.values(formats))

/** The kind of the value in a row. A row of an unknown format does not decrypt, whatever it is taken for. */
export const kindOf = ({ format }: { readonly format: number }): SecretKind =>
  format === formats.reference ? "reference" : "text"

/** The columns of a value encrypted under its data key, and of that key wrapped by the key-encryption key. */
export interface Sealed {
  readonly format: number
  readonly kek_id: string
  /** The data key: a nonce of 12 bytes, the ciphertext and a tag of 16 bytes, 60 bytes in all. */
  readonly wrapped_key: Uint8Array
  /** The value, in the same form. */
  readonly ciphertext: Uint8Array
}

const dataKeyBytes = 32

/** A wrapped data key without its nonce: the part that erasures search for. Earlier schemas stored it separately. */
export const keyWithoutNonce = (wrapped_key: Uint8Array): Uint8Array => wrapped_key.subarray(nonceBytes)

// Does not include the key-encryption key's id: a rotation rewraps data keys and does not touch values.
const valueData = (format: number, binding: Binding) =>
  lengthPrefixed(String(format), "coffer/value", binding.secretId, String(binding.version))

const dataKeyData = (format: number, kekId: string, binding: Binding) =>
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

// The value was validated before sealing, and the tag authenticates it, so it is not validated again.
const secretValue = Brand.nominal<SecretValue>()

/** Encrypts a value with AES-256-GCM (NIST SP 800-38D) under a new data key, with random nonces. */
export const seal = (
  keyring: Subkeys,
  binding: Binding,
  value: Redacted.Redacted<SecretValue>,
  kind: SecretKind = "text"
): Sealed => {
  const format = formats[kind]
  // One call for all random bytes: the call costs far more than the bytes.
  const random = randomBytes(dataKeyBytes + 2 * nonceBytes)
  const dataKey = random.subarray(0, dataKeyBytes)
  const nonce = random.subarray(dataKeyBytes, dataKeyBytes + nonceBytes)
  const keyNonce = random.subarray(dataKeyBytes + nonceBytes)
  const sealed: Sealed = {
    format,
    kek_id: keyring.kekId,
    wrapped_key: encrypt(keyring.kek, keyNonce, dataKeyData(format, keyring.kekId, binding), dataKey),
    ciphertext: encrypt(dataKey, nonce, valueData(format, binding), Buffer.from(Redacted.value(value)))
  }
  dataKey.fill(0)
  return sealed
}

const unwrapDataKey = (keyring: Subkeys, binding: Binding, sealed: Sealed): Either.Either<Buffer, DecryptionFailed> =>
  !knownFormats.has(sealed.format) || sealed.kek_id !== keyring.kekId
    ? refused()
    : decrypt(keyring.kek, dataKeyData(sealed.format, keyring.kekId, binding), sealed.wrapped_key)

/** Like `open`, without an effect, for the many secrets of a bundle. */
export const openEither = (
  keyring: Subkeys,
  binding: Binding,
  sealed: Sealed
): Either.Either<Redacted.Redacted<SecretValue>, DecryptionFailed> =>
  Either.flatMap(unwrapDataKey(keyring, binding, sealed), (dataKey) => {
    const value = decrypt(dataKey, valueData(sealed.format, binding), sealed.ciphertext)
    dataKey.fill(0)
    return Either.map(value, (bytes) => Redacted.make(secretValue(bytes.toString())))
  })

/** Decrypts a sealed value. Fails with `DecryptionFailed` if the row was edited or moved, or is under another key. */
export const open = (
  keyring: Subkeys,
  binding: Binding,
  sealed: Sealed
): Effect.Effect<Redacted.Redacted<SecretValue>, DecryptionFailed> =>
  Effect.suspend(() => openEither(keyring, binding, sealed))

/**
 * Rewraps the data key under another master key's key-encryption key, and leaves the encrypted value unchanged. Fails
 * with `DecryptionFailed` if the data key does not unwrap. The value is not decrypted.
 */
export const rewrap = (
  from: Subkeys,
  to: Subkeys,
  binding: Binding,
  sealed: Sealed
): Effect.Effect<Sealed, DecryptionFailed> =>
  Effect.suspend(() =>
    Either.map(unwrapDataKey(from, binding, sealed), (dataKey): Sealed => {
      const wrapped_key = encrypt(
        to.kek,
        randomBytes(nonceBytes),
        dataKeyData(sealed.format, to.kekId, binding),
        dataKey
      )
      dataKey.fill(0)
      return { ...sealed, kek_id: to.kekId, wrapped_key }
    })
  )
