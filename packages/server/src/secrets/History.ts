import { actorName } from "@coffer/domain/Actor"
import { Conflict, NotFound } from "@coffer/domain/Errors"
import type { SecretKey } from "@coffer/domain/Names"
import type { SecretVersion, SecretWritten } from "@coffer/domain/Secret"
import { Effect } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import { Erasures } from "../database/Erasures.js"
import { now } from "../database/Time.js"
import { transaction } from "../database/Writer.js"
import { forEachInTurns, pacing } from "../Turn.js"
import { checkLimits } from "./Limits.js"
import { missingEnvironment, SecretsRepo, type VersionRow, type WholeVersionRow } from "./Repo.js"
import { checkExpected, missing } from "./Secrets.js"
import { Versions } from "./Versions.js"

const defaultLimit = 100

const noVersion = (key: SecretKey, version: number) =>
  new NotFound({ message: `version ${version} of secret ${key} is not there` })

const recordOf =
  (current: number) =>
  ({ created_at, created_by, destroyed_at, version }: VersionRow): SecretVersion => ({
    version,
    created_at,
    created_by,
    current: version === current,
    destroyed: destroyed_at !== null
  })

/** What a secret was: its versions, and the ways back to one, or to none of it ever having been seen. */
export class History extends Effect.Service<History>()("@coffer/server/History", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const sealed = yield* Versions
    const audit = yield* AuditLog
    const erasures = yield* Erasures

    /** A secret's versions, newest first, below a version when one is given; no values. */
    const versions = Effect.fn("History.versions")(function* (
      place: Place<"secret.list">,
      key: SecretKey,
      page: { readonly limit?: number; readonly before?: number }
    ) {
      const current = yield* repo.currentVersion(place.env.id, key)
      if (current === undefined) return yield* missing(key)
      yield* sealed.checkNewest(place, { ...current, key })
      const rows = yield* repo.versions(current.id, page.before ?? null, page.limit ?? defaultLimit)
      return rows.map(recordOf(current.version))
    })

    /** Writes the value of an earlier version as a new one, without showing it. */
    const rollback = Effect.fn("History.rollback")(function* (
      place: Place<"secret.write">,
      key: SecretKey,
      request: { readonly version: number; readonly expected_version?: number }
    ) {
      const written_at = yield* now
      return yield* transaction(
        Effect.gen(function* () {
          const totals = repo.totals(place.env.id)
          if (totals === undefined) return yield* missingEnvironment(place.env.name)
          const current = repo.findLive(place.env.id, key)
          if (current === undefined) return yield* missing(key)
          yield* sealed.checkNewest(place, { ...current, key })
          yield* checkExpected(key, request.expected_version, current.version)
          const earlier = yield* repo.findVersion(current.id, request.version)
          if (earlier === undefined) return yield* noVersion(key, request.version)
          if (earlier.destroyed_at !== null) {
            return yield* new Conflict({
              message: `version ${request.version} of secret ${key} was destroyed: there is no value to go back to`
            })
          }
          const { id } = current
          const value = yield* sealed.open(place, { id, key, version: request.version }, earlier)
          const after = {
            secret_count: totals.secret_count,
            value_bytes: totals.value_bytes - current.value_bytes + earlier.value_bytes
          }
          yield* checkLimits(totals, after)
          const version = current.version + 1
          const revision = totals.revision + 1
          yield* sealed.write(place, { id, key, version }, value, { revision, at: written_at })
          repo.setTotals(place.env.id, { revision, ...after })
          yield* audit.write(sourceOf(place), {
            action: "secret.set",
            resource_type: "secret",
            resource_id: current.id,
            metadata: { key, version, rolled_back_to: request.version }
          })
          const written: SecretWritten = { key, version, created_at: current.created_at, updated_at: written_at }
          return written
        })
      )
    })

    /** Brings back the record of a key that was removed last, with its versions, when the key is free. */
    const undelete = Effect.fn("History.undelete")(function* (place: Place<"secret.write">, key: SecretKey) {
      const written_at = yield* now
      return yield* transaction(
        Effect.gen(function* () {
          const totals = repo.totals(place.env.id)
          if (totals === undefined) return yield* missingEnvironment(place.env.name)
          const removed = yield* repo.findRemoved(place.env.id, key)
          if (removed === undefined) {
            return yield* new NotFound({
              message: `secret ${key} was never removed from environment ${place.env.name}`
            })
          }
          yield* sealed.checkNewest(place, { ...removed, key })
          if (repo.findLive(place.env.id, key) !== undefined) {
            return yield* new Conflict({
              message: `secret ${key} was set anew after it was removed: what it was before that cannot come back`
            })
          }
          const after = {
            secret_count: totals.secret_count + 1,
            value_bytes: totals.value_bytes + removed.value_bytes
          }
          yield* checkLimits(totals, after)
          const { created_at, version } = removed
          const revision = totals.revision + 1
          repo.restore({
            env_id: place.env.id,
            revision,
            key,
            secret_id: removed.id,
            version,
            created_by: actorName(place.actor),
            created_at: written_at
          })
          repo.setTotals(place.env.id, { revision, ...after })
          yield* audit.write(sourceOf(place), {
            action: "secret.undelete",
            resource_type: "secret",
            resource_id: removed.id,
            metadata: { key, version }
          })
          const written: SecretWritten = { key, version, created_at, updated_at: written_at }
          return written
        })
      )
    })

    /**
     * Erases earlier versions for good: their data keys and what they sealed go from the rows, from free pages and from
     * the write-ahead log; `erased` tells whether they are gone already. That they existed stays on record. The current version
     * is a Conflict.
     */
    const destroy = Effect.fn("History.destroy")(function* (
      place: Place<"secret.destroy">,
      key: SecretKey,
      wanted: ReadonlyArray<number>
    ) {
      const destroyed_at = yield* now
      const destroyed = yield* transaction(
        Effect.gen(function* () {
          if (!(yield* repo.claim(place.env.id))) return yield* missingEnvironment(place.env.name)
          const current = repo.findLive(place.env.id, key)
          if (current === undefined) {
            if ((yield* repo.findRemoved(place.env.id, key)) === undefined) return yield* missing(key)
            return yield* new NotFound({
              message: `secret ${key} is removed: undelete it first, because its versions are destroyed while it is there`
            })
          }
          yield* sealed.checkNewest(place, { ...current, key })
          const rows: Array<WholeVersionRow> = []
          const pace = pacing()
          for (const version of [...new Set(wanted)].sort((a, b) => b - a)) {
            if (version === current.version) {
              return yield* new Conflict({
                message: `version ${version} of secret ${key} is the current one: write a new value before this one is destroyed`
              })
            }
            const row = yield* repo.findVersion(current.id, version)
            if (row === undefined) return yield* noVersion(key, version)
            rows.push(row)
            yield* pace
          }
          const fresh = rows.filter((row) => row.destroyed_at === null)
          const isErasing = fresh.length > 0
          if (isErasing) yield* erasures.note
          yield* forEachInTurns(fresh, ({ version }) => repo.destroyVersion(current.id, version, destroyed_at))
          yield* audit.write(
            sourceOf(place),
            ...fresh.map(
              ({ version }) =>
                ({
                  action: "secret.destroy",
                  resource_type: "secret",
                  resource_id: current.id,
                  metadata: { key, version }
                }) as const
            )
          )
          return {
            isErasing,
            records: rows.map((row) => recordOf(current.version)({ ...row, destroyed_at })),
            keys: fresh.flatMap(({ wrapped_key }) => (wrapped_key === null ? [] : [wrapped_key]))
          }
        })
      ).pipe(
        Effect.flatMap(({ isErasing, keys, records }) =>
          Effect.map(isErasing ? erasures.erase(keys) : erasures.state, (erased) => ({ data: records, erased }))
        ),
        // A client that hangs up between the commit and the erasure would take along what to look for.
        Effect.uninterruptible
      )
      return destroyed
    })

    return { versions, rollback, undelete, destroy } as const
  }),
  dependencies: [SecretsRepo.Default, Versions.Default]
}) {}
