import { type ArchivedVersion, versionProblem } from "@coffer/domain/archive/ArchivedSecret"
import { Conflict, type LimitExceeded, ValidationError } from "@coffer/domain/errors/Errors"
import { type OrgId, SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import { maxReferences, parseReference, type ReferenceTarget, targetsOf } from "@coffer/domain/secrets/Reference"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { forEachInSlices } from "../../base/EventLoop.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { type Binding, kindOf, openEither, seal, type Sealed } from "../../keys/Envelope.js"
import { Keyring } from "../../keys/Keyring.js"
import { WrapBudget } from "../../keys/WrapBudget.js"
import { sizeOf } from "../stored/Versions.js"
import { type ImportedPlace, importRepo, type StoredSecret, type StoredVersion } from "./ImportRepo.js"

/** A version that is not stored yet. */
export interface ImportedVersion {
  readonly archived: ArchivedVersion
  readonly secretId: SecretId
  /** Null if the version was destroyed. */
  readonly sealed: Sealed | null
  readonly bytes: number
  readonly targets: ReadonlyArray<ReferenceTarget>
}

/** New versions, in their order, and the secrets that were there before. */
export interface ImportedVersions {
  readonly versions: ReadonlyArray<ImportedVersion>
  readonly existing: ReadonlyMap<SecretKey, StoredSecret>
}

export const bindingIn = (
  orgId: OrgId,
  { env_id, project_id }: ImportedPlace,
  { id, key }: Pick<StoredSecret, "id" | "key">,
  version: number
): Binding => ({ orgId, projectId: project_id, envId: env_id, secretId: id, key, version })

/** How far ahead the clock of the server may be that an archive comes from. */
const skewMillis = 5 * 60 * 1000

/**
 * Returns the problem with a version whose times are still in the future, which no write could make; null if there is none.
 * Times in ISO 8601 are in the order of text.
 */
const laterThan = ({ created_at, destroyed_at = created_at }: ArchivedVersion, latest: string): string | null => {
  if (created_at > latest) return "created_at: is in the future"
  return destroyed_at > latest ? "destroyed_at: is in the future" : null
}

const invalid = (key: SecretKey, problem: string) => new ValidationError({ message: `${key}: ${problem}` })

/** Parses the references of a version. Only their form is checked: what they name may come later, or never. */
const targetsIn = ({
  key,
  kind,
  value
}: ArchivedVersion): Either.Either<ImportedVersion["targets"], ValidationError> => {
  if (kind !== "reference" || value === undefined) return Either.right([])
  return Either.flatMap(
    Either.mapLeft(parseReference(Redacted.value(value)), (wrong) => invalid(key, wrong)),
    (parts) => {
      const targets = targetsOf(parts)
      return targets.length > maxReferences
        ? Either.left(invalid(key, `has ${targets.length} references: a value has at most ${maxReferences}`))
        : Either.right(targets)
    }
  )
}

/** Prepares versions outside of a transaction: encrypts new ones, and compares those that are stored already. */
export const makeImportedVersions = Effect.gen(function* () {
  const repo = yield* importRepo
  const keyring = yield* Keyring
  const wraps = yield* WrapBudget

  const isSame = (archived: ArchivedVersion, stored: StoredVersion, binding: Binding): boolean => {
    const { created_at, created_by, destroyed_at = null, kind = "text", revision = stored.revision, value } = archived
    if (revision !== stored.revision) return false
    if (created_at !== stored.created_at || created_by !== stored.created_by || destroyed_at !== stored.destroyed_at) {
      return false
    }
    if (value === undefined) return true
    const { ciphertext, wrapped_key } = stored
    if (kind !== kindOf(stored) || ciphertext === null || wrapped_key === null) return false
    return Either.match(openEither(keyring, binding, { ...stored, ciphertext, wrapped_key }), {
      onLeft: () => false,
      onRight: (text) => Redacted.value(text) === Redacted.value(value)
    })
  }

  const checkSame = Effect.fnUntraced(function* (archived: ArchivedVersion, secret: StoredSecret, binding: Binding) {
    const { key, version } = archived
    const stored = yield* repo.version({ secretId: secret.id, version })
    if (stored !== undefined && isSame(archived, stored, binding)) return
    return yield* new Conflict({ message: `version ${version} of ${key} was imported with other content` })
  })

  /** Returns what is new of versions. Fails with Conflict if one is stored with other content, or comes too early. */
  return Effect.fnUntraced(function* (orgId: OrgId, place: ImportedPlace, data: ReadonlyArray<ArchivedVersion>) {
    const latest = timestamp((yield* Clock.currentTimeMillis) + skewMillis)
    const existing = new Map<SecretKey, StoredSecret>()
    const reached = new Map<SecretKey, Omit<StoredSecret, "value_bytes">>()

    const secretOf = Effect.fnUntraced(function* (key: SecretKey) {
      const known = reached.get(key)
      if (known !== undefined) return known
      const found = yield* repo.secret({ envId: place.env_id, key })
      if (found !== undefined) existing.set(key, found)
      return found ?? { id: SecretId.make(yield* uuidV7), key, version: 0, revision: 0, ended: 0 as const }
    })

    const importedVersionOf = (
      archived: ArchivedVersion
    ): Effect.Effect<ImportedVersion | null, Conflict | LimitExceeded | ValidationError> =>
      Effect.gen(function* () {
        const { current, key, kind, revision, value, version } = archived
        const problem = versionProblem(archived) ?? laterThan(archived, latest)
        if (problem !== null) return yield* invalid(key, problem)
        const targets = yield* targetsIn(archived)
        const secret = yield* secretOf(key)
        reached.set(key, {
          ...secret,
          version: Math.max(version, secret.version),
          revision: Math.max(revision ?? 0, secret.revision),
          ended: current === undefined ? secret.ended : 1
        })
        const binding = bindingIn(orgId, place, secret, version)
        const before = existing.get(key)
        if (before !== undefined && version <= before.version)
          return yield* Effect.as(checkSame(archived, before, binding), null)
        if (version !== secret.version + 1) {
          return yield* new Conflict({ message: `version ${version} of ${key} came after version ${secret.version}` })
        }
        // Each would bring a due date and use rules for the one secret, past the limit of rules.
        if (secret.ended === 1) {
          return yield* invalid(key, `version ${version} follows version ${secret.version}, which is the current one`)
        }
        if (revision !== undefined && revision <= secret.revision) {
          return yield* invalid(key, `version ${version} is of no later revision than version ${secret.version}`)
        }
        if (value === undefined) return { archived, secretId: secret.id, sealed: null, bytes: 0, targets }
        const sealed = yield* Either.map(wraps.check(), () => seal(keyring, binding, value, kind))
        return { archived, secretId: secret.id, sealed, bytes: sizeOf(value), targets }
      })

    const versions = yield* forEachInSlices(data, importedVersionOf)
    const prepared: ImportedVersions = { versions: versions.filter((version) => version !== null), existing }
    return prepared
  })
})
