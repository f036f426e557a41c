import { actorName } from "@coffer/domain/access/Actor"
import { DecryptionFailed } from "@coffer/domain/errors/Errors"
import type { Action } from "@coffer/domain/access/Permissions"
import type { SecretKind } from "@coffer/domain/secrets/Secret"
import { byteLength } from "@coffer/domain/secrets/SecretValueForm"
import { parseReference, targetsOf } from "@coffer/domain/secrets/Reference"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { EnvPlace, Place } from "../../access/Access.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { type Binding, openEither, seal as sealValue, type Sealed, type Value } from "../../keys/Envelope.js"
import { Keyring } from "../../keys/Keyring.js"
import { WrapBudget } from "../../keys/WrapBudget.js"
import type { Admitted } from "../references/ReferenceChecks.js"
import { referencesRepo } from "./ReferencesRepo.js"
import { changesRepo } from "./ChangesRepo.js"
import { makeFailureReports, type VersionOf } from "./DecryptionFailures.js"

export type EnvironmentPlace = Place<
  | "secret.read"
  | "secret.write"
  | "secret.compare"
  | "secret.copy"
  | "secret.use"
  | "connection.test"
  | "orphan.delete"
  | "lease.create"
  | "lease.renew"
>

/** A value with how it is stored. */
export interface Content {
  readonly kind: SecretKind
  readonly value: Value
}

/** A version of a secret to write. */
export interface NewValue extends VersionOf {
  readonly content: Content
  /** Its encrypted columns, if `seal` made them before the transaction. */
  readonly sealed?: Sealed | undefined
}

/** The revision and the time of a change. */
export interface WrittenAt {
  readonly revision: number
  readonly at: string
}

/** A version that does not decrypt. */
export interface Altered {
  readonly place: EnvPlace<Action>
  readonly of: VersionOf
}

interface SealedColumns {
  readonly format: number
  readonly kek_id: string
  readonly wrapped_key: Uint8Array | null
  readonly ciphertext: Uint8Array | null
}

const bindingOf = (place: EnvironmentPlace, { id, key, version }: VersionOf): Binding => ({
  orgId: place.org.id,
  projectId: place.project.id,
  envId: place.env.id,
  secretId: id,
  key,
  version
})

/** The size of a value in bytes of UTF-8. */
export const sizeOf = (value: Value): number => byteLength(Redacted.value(value))

/** Encrypts versions when they are written and decrypts them when read. Each is bound to its place in the hierarchy. */
export class Versions extends Effect.Service<Versions>()("@coffer/server/Versions", {
  effect: Effect.gen(function* () {
    const changes = yield* changesRepo
    const keyring = yield* Keyring
    const wraps = yield* WrapBudget
    const references = yield* referencesRepo
    const reportFailure = yield* makeFailureReports

    /** Encrypts a version. Fails with LimitExceeded if the key-encryption key has reached its limit. */
    const seal = (place: Place<"secret.write">, { content: { kind, value }, ...of }: NewValue) =>
      Either.map(wraps.check(), () => sealValue(keyring, bindingOf(place, of), value, kind))

    /**
     * Encrypts values as versions of secrets and makes them current; a version 1 creates its secret. The references among
     * them were admitted. Fails with LimitExceeded if the key-encryption key has reached its limit.
     */
    const write = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      versions: ReadonlyArray<NewValue>,
      written: WrittenAt,
      _admitted: Admitted
    ) {
      const rows = yield* Effect.forEach(versions, (one) => {
        const { content, id, key, sealed, version } = one
        return Effect.map(sealed === undefined ? seal(place, one) : Either.right(sealed), (columns) => ({
          ...columns,
          env_id: place.env.id,
          key,
          secret_id: id,
          version,
          revision: written.revision,
          value_bytes: sizeOf(content.value),
          created_by: actorName(place.actor),
          created_at: written.at
        }))
      })
      yield* changes.insertVersions(rows)
      yield* references.insert(versions.flatMap(rowsOf(place)))
    })

    /** The secrets that a version names, each once. */
    const rowsOf =
      ({ env, project }: Place<"secret.write">) =>
      ({ content: { kind, value }, id, version }: NewValue) => {
        if (kind === "text") return []
        const targets = targetsOf(Either.getOrElse(parseReference(Redacted.value(value)), () => []))
        const row = { secret_id: id, version, env_id: env.id, project_id: project.id }
        const rows = targets.map(({ env: there, key }) => ({ ...row, target_env: there ?? env.name, target_key: key }))
        return [...new Map(rows.map((each) => [`${each.target_env}:${each.target_key}`, each])).values()]
      }

    /** Reports a version that does not decrypt, and fails with DecryptionFailed. */
    const failed = ({ of, place }: Altered): Effect.Effect<never, DecryptionFailed> =>
      Effect.zipRight(
        reportFailure(place, of),
        new DecryptionFailed({ message: `secret ${of.key} does not authenticate: it was altered` })
      )

    /** Decrypts a version. A left, to pass to `failed`, says that its row was edited or moved, or that it was destroyed. */
    const opened = (
      place: EnvironmentPlace,
      of: VersionOf,
      { ciphertext, format, kek_id, wrapped_key }: SealedColumns
    ): Either.Either<Value, Altered> =>
      wrapped_key === null || ciphertext === null
        ? Either.left({ place, of })
        : Either.mapLeft(
            openEither(keyring, bindingOf(place, of), { format, kek_id, wrapped_key, ciphertext }),
            () => ({
              place,
              of
            })
          )

    /** As `opened`, but reports the failure. */
    const open = (
      place: EnvironmentPlace,
      of: VersionOf,
      sealed: SealedColumns
    ): Effect.Effect<Value, DecryptionFailed> =>
      Effect.suspend(() => Effect.catchAll(opened(place, of, sealed), failed))

    /** Decrypts many versions in slices. Reports only the first that does not decrypt, and fails. */
    const openAll = (place: EnvironmentPlace, rows: ReadonlyArray<VersionOf & SealedColumns>) =>
      Effect.flatMap(
        mapInSlices(rows, (row) => opened(place, row, row)),
        (values) => Effect.catchAll(Either.all(values), failed)
      )

    /**
     * Fails with DecryptionFailed, and reports that, if the current version of a secret is not its newest. Somebody
     * then edited the file, and an old value must not pass for the current one.
     */
    const checkNewest = (
      place: EnvPlace<Action>,
      of: VersionOf & { readonly newest: 0 | 1 }
    ): Effect.Effect<void, DecryptionFailed> => (of.newest === 1 ? Effect.void : failed({ place, of }))

    return { seal, write, opened, open, openAll, failed, checkNewest } as const
  })
}) {}
