import { actorName } from "@coffer/domain/Actor"
import { DecryptionFailed, type LimitExceeded } from "@coffer/domain/Errors"
import { byteLength, type SecretId, type SecretKey, type SecretValue } from "@coffer/domain/Names"
import type { Action } from "@coffer/domain/Permissions"
import { Effect, Either, Redacted } from "effect"
import type { EnvPlace, Place } from "../access/Access.js"
import { type Binding, openEither, seal, type Sealed, wrappedKeyBytes } from "../keys/Envelope.js"
import { Keyring, nonceBytes } from "../keys/Keyring.js"
import { WrapBudget } from "../keys/WrapBudget.js"
import { makeFailureReports } from "./DecryptionFailures.js"
import { SecretsRepo } from "./Repo.js"

export type EnvironmentPlace = Place<"secret.read" | "secret.write" | "secret.compare" | "secret.copy">

export type Value = Redacted.Redacted<SecretValue>

/** Which version of which secret. */
export interface VersionOf {
  readonly id: SecretId
  readonly key: SecretKey
  readonly version: number
}

interface SealedColumns {
  readonly format: number
  readonly kek_id: string
  /** Nonce, key nonce, wrapped key and ciphertext, one after another. */
  readonly sealed: Uint8Array | null
}

const bindingOf = (place: EnvironmentPlace, { id, key, version }: VersionOf): Binding => ({
  orgId: place.org.id,
  projectId: place.project.id,
  envId: place.env.id,
  secretId: id,
  key,
  version
})

const wrappedAt = 2 * nonceBytes
const ciphertextAt = wrappedAt + wrappedKeyBytes

const sealedOf = ({ format, kek_id, sealed }: SealedColumns): Sealed | null =>
  sealed === null
    ? null
    : {
        format,
        kek_id,
        nonce: sealed.subarray(0, nonceBytes),
        key_nonce: sealed.subarray(nonceBytes, wrappedAt),
        wrapped_key: sealed.subarray(wrappedAt, ciphertextAt),
        ciphertext: sealed.subarray(ciphertextAt)
      }

const altered = (key: SecretKey) =>
  new DecryptionFailed({ message: `secret ${key} does not authenticate: it was altered` })

/** The size of a value in bytes of UTF-8. */
export const sizeOf = (value: Value): number => byteLength(Redacted.value(value))

/** What was written is what is read: versions are sealed to their place as they are written, and opened there alone. */
export class Versions extends Effect.Service<Versions>()("@coffer/server/Versions", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const keyring = yield* Keyring
    const wraps = yield* WrapBudget
    const reportFailure = yield* makeFailureReports

    /**
     * Seals a value as a version of a secret and makes that version the current one: the first version makes the secret.
     * Belongs inside the transaction that takes the revision. Left with LimitExceeded when the key has wrapped its fill.
     */
    const write = (
      place: Place<"secret.write">,
      of: VersionOf,
      value: Value,
      written: { readonly revision: number; readonly at: string }
    ): Either.Either<void, LimitExceeded> =>
      Either.map(wraps.check(), () => {
        if (of.version === 1) {
          repo.insertSecret({ id: of.id, env_id: place.env.id, key: of.key, created_at: written.at })
        } else repo.setVersion(of.id, of.version, written.at)
        repo.insertVersion({
          ...seal(keyring, bindingOf(place, of), value),
          env_id: place.env.id,
          key: of.key,
          secret_id: of.id,
          version: of.version,
          revision: written.revision,
          value_bytes: sizeOf(value),
          created_by: actorName(place.actor),
          created_at: written.at
        })
      })

    /** The value of a version. Left with DecryptionFailed rather than anything that was edited, moved or destroyed. */
    const open = (
      place: EnvironmentPlace,
      of: VersionOf,
      row: SealedColumns | undefined
    ): Either.Either<Value, DecryptionFailed> => {
      const sealed = row === undefined ? null : sealedOf(row)
      const failed = () => {
        reportFailure(place, of)
        return altered(of.key)
      }
      return sealed === null
        ? Either.left(failed())
        : Either.mapLeft(openEither(keyring, bindingOf(place, of), sealed), failed)
    }

    /**
     * Left with DecryptionFailed where a secret points to another version than the newest that it has: somebody set it back in
     * the file, and what it points to must not pass for the current value. It is reported like a version that does not open.
     */
    const checkNewest = (
      place: EnvPlace<Action>,
      of: VersionOf & { readonly newest: 0 | 1 }
    ): Either.Either<void, DecryptionFailed> => {
      if (of.newest === 1) return Either.void
      reportFailure(place, of)
      return Either.left(altered(of.key))
    }

    return { write, open, checkNewest } as const
  }),
  dependencies: [SecretsRepo.Default]
}) {}
