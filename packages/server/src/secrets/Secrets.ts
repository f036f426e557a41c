import { actorName } from "@coffer/domain/Actor"
import { Conflict, type DecryptionFailed, type LimitExceeded, NotFound } from "@coffer/domain/Errors"
import { SecretId, type SecretKey } from "@coffer/domain/Names"
import type { SecretRead, SecretWritten } from "@coffer/domain/Secret"
import { Effect, Either } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { Statements } from "../database/Client.js"
import { millisIn, timestamp } from "../database/Time.js"
import { uuidV7At } from "../database/Uuid.js"
import { traced } from "../tracing/Traced.js"
import { checkLimits } from "./Limits.js"
import { missingEnvironment, SecretsRepo } from "./Repo.js"
import { sizeOf, type Value, Versions } from "./Versions.js"

export const missing = (key: SecretKey) => new NotFound({ message: `secret ${key} is not there` })

/** Left with Conflict when a secret is not at the version that the caller expects; 0 stands for none. */
export const checkExpected = (
  key: SecretKey,
  expected: number | undefined,
  current: number
): Either.Either<void, Conflict> =>
  expected === undefined || expected === current
    ? Either.void
    : Either.left(
        new Conflict({
          message:
            current === 0
              ? `secret ${key} is not there, and version ${expected} was expected`
              : `secret ${key} is at version ${current}, and ${expected === 0 ? "no secret" : `version ${expected}`} was expected`
        })
      )

export class Secrets extends Effect.Service<Secrets>()("@coffer/server/Secrets", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const versions = yield* Versions
    const audit = yield* AuditLog
    const { change } = yield* Statements

    /** A secret as it is, or as it was at a version. Fails with DecryptionFailed rather than answer what was edited. */
    const read = (
      place: Place<"secret.read">,
      key: SecretKey,
      version?: number
    ): Effect.Effect<SecretRead, NotFound | DecryptionFailed> =>
      Effect.suspend((): Effect.Effect<SecretRead, NotFound | DecryptionFailed> => {
        const row = repo.read(place.env.id, key, version ?? null)
        if (row === undefined) {
          return version === undefined
            ? missing(key)
            : new NotFound({ message: `version ${version} of secret ${key} is not there` })
        }
        if (row.destroyed_at !== null) {
          return new NotFound({ message: `version ${row.version} of secret ${key} was destroyed` })
        }
        const opened = versions.open(place, { id: row.id, key, version: row.version }, row)
        if (Either.isLeft(opened)) return opened.left
        const recorded = audit.read(sourceOf(place), {
          action: "secret.read",
          resource_type: "secret",
          resource_id: row.id,
          metadata: { key, version: row.version }
        })
        return Effect.as(recorded, { key, value: opened.right, version: row.version })
      })

    const list = traced("Secrets.list")(
      Effect.fnUntraced(function* (place: Place<"secret.list">) {
        const rows = yield* repo.list(place.env.id)
        for (const row of rows) yield* versions.checkNewest(place, row)
        return rows.map(({ key, updated_at, version }) => ({ key, version, updated_at }))
      })
    )

    /** What a change to a secret starts from: what its environment holds, the revision that it makes, and what is there. */
    const startOf = (place: Place<"secret.write">, key: SecretKey) => {
      const totals = repo.totals(place.env.id)
      if (totals === undefined) return Either.left(missingEnvironment(place.env.name))
      const current = repo.findLive(place.env.id, key)
      return Either.map(current === undefined ? Either.void : versions.checkNewest(place, { ...current, key }), () => ({
        totals,
        revision: totals.revision + 1,
        current
      }))
    }

    /** Writes a new version. With an expected version (0: none), anything else there is a Conflict and changes nothing. */
    const set = traced("Secrets.set")(
      (place: Place<"secret.write">, key: SecretKey, value: Value, expectedVersion?: number) =>
        Effect.withFiberRuntime<SecretWritten, Conflict | DecryptionFailed | LimitExceeded | NotFound>((fiber) => {
          const millis = millisIn(fiber)
          const written_at = timestamp(millis)
          const size = sizeOf(value)
          return change(() =>
            Either.gen(function* () {
              const { current, revision, totals } = yield* startOf(place, key)
              yield* checkExpected(key, expectedVersion, current?.version ?? 0)
              const after = {
                secret_count: totals.secret_count + (current === undefined ? 1 : 0),
                value_bytes: totals.value_bytes - (current?.value_bytes ?? 0) + size
              }
              yield* checkLimits(totals, after)
              const { created_at, id, version } =
                current === undefined
                  ? { id: SecretId.make(uuidV7At(millis)), version: 1, created_at: written_at }
                  : { ...current, version: current.version + 1 }
              yield* versions.write(place, { id, key, version }, value, { revision, at: written_at })
              repo.setTotals(place.env.id, { revision, ...after })
              audit.writeIn(fiber, sourceOf(place), {
                action: "secret.set",
                resource_type: "secret",
                resource_id: id,
                metadata: { key, version }
              })
              return { key, version, created_at, updated_at: written_at }
            })
          )
        })
    )

    const remove = traced("Secrets.remove")((place: Place<"secret.write">, key: SecretKey, expectedVersion?: number) =>
      Effect.withFiberRuntime<void, Conflict | DecryptionFailed | NotFound>((fiber) => {
        const removed_at = timestamp(millisIn(fiber))
        return change(() =>
          Either.gen(function* () {
            const { current, revision, totals } = yield* startOf(place, key)
            if (current === undefined) return yield* Either.left(missing(key))
            yield* checkExpected(key, expectedVersion, current.version)
            repo.remove({
              env_id: place.env.id,
              revision,
              key,
              secret_id: current.id,
              version: current.version,
              created_by: actorName(place.actor),
              created_at: removed_at
            })
            repo.setTotals(place.env.id, {
              revision,
              secret_count: totals.secret_count - 1,
              value_bytes: totals.value_bytes - current.value_bytes
            })
            audit.writeIn(fiber, sourceOf(place), {
              action: "secret.delete",
              resource_type: "secret",
              resource_id: current.id,
              metadata: { key, version: current.version }
            })
          })
        )
      })
    )

    return { read, list, set, remove } as const
  }),
  dependencies: [SecretsRepo.Default, Versions.Default]
}) {}
