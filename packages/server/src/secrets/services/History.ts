import { Conflict, NotFound } from "@coffer/domain/errors/Errors"
import type { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { SecretVersion } from "@coffer/domain/secrets/Secret"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { recordAffected } from "../../access/Affected.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { afterCommit } from "../../database/Database.js"
import { type Erased, Erasures } from "../../database/Erasures.js"
import { now } from "../../base/Time.js"
import { keyWithoutNonce, kindOf } from "../../keys/Envelope.js"
import { method } from "../../base/tracing/Traced.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { changesRepo } from "../stored/ChangesRepo.js"
import { historyRepo, type VersionRow } from "../stored/HistoryRepo.js"
import { secretsRepo } from "../stored/Repo.js"
import { secretNotFound, versionNotFound } from "../stored/NotThere.js"
import { Changes, secretWritten } from "./Changes.js"
import { checkExpected } from "./Secrets.js"
import { setStep, undeletion } from "./Steps.js"
import { Versions } from "../stored/Versions.js"

/** How many versions a page has if the request does not say. */
export const defaultLimit = 100

export const secretVersion =
  (current: number) =>
  ({ created_at, created_by, destroyed_at, format, version }: VersionRow): SecretVersion => ({
    version,
    created_at,
    created_by,
    current: version === current,
    destroyed: destroyed_at !== null,
    ...(kindOf({ format }) === "reference" && { kind: "reference" })
  })

/** Which versions to list. */
export interface VersionPage {
  readonly limit?: number
  readonly before?: number
}

/** The versions of a secret: lists, rolls back, undeletes and destroys them. */
export class History extends Effect.Service<History>()("@coffer/server/History", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const history = yield* historyRepo
    const { destroyVersion } = yield* changesRepo
    const changes = yield* Changes
    const sealed = yield* Versions
    const audit = yield* AuditLog
    const erasures = yield* Erasures

    /** Lists the versions of a secret, newest first, without values. With `before`, only lower versions. */
    const versions = method(
      "History.versions",
      function* (place: Place<"secret.list">, key: SecretKey, page: VersionPage) {
        const current = yield* history.findCurrent({ envId: place.env.id, key })
        if (current === undefined) return yield* secretNotFound(key)
        yield* sealed.checkNewest(place, { ...current, key })
        const rows = yield* history.versions({
          id: current.id,
          before: page.before ?? Number.MAX_SAFE_INTEGER,
          limit: page.limit ?? defaultLimit
        })
        return rows.map(secretVersion(current.version))
      }
    )

    /** Writes the value of an earlier version as a new version, without returning the value. */
    const rollback = method(
      "History.rollback",
      function* (
        place: Place<"secret.write">,
        key: SecretKey,
        request: { readonly version: number; readonly expected_version?: number }
      ) {
        const claimed = yield* changes.claim(place)
        const current = yield* changes.current(place, key)
        if (current === undefined) return yield* secretNotFound(key)
        yield* checkExpected(key, request.expected_version, current.version)
        const from = { id: current.id, key, version: request.version }
        const earlier = yield* history.findVersion(from)
        if (earlier === undefined) return yield* versionNotFound(key, request.version)
        if (earlier.destroyed_at !== null) {
          return yield* new Conflict({
            message: `version ${request.version} of secret ${key} was destroyed: it has no value to roll back to`
          })
        }
        const content = { kind: kindOf(earlier), value: yield* sealed.open(place, from, earlier) }
        const step = yield* setStep(key, content, current)
        const written = yield* changes.restoring(claimed, [step], {
          moved: [from],
          recorded: () => ({ rolled_back_to: request.version })
        })
        return secretWritten(claimed, step, current)(written)
      }
    )

    /** Restores the last removed secret of a key, with its versions. Fails with Conflict if the key is in use. */
    const undelete = method("History.undelete", function* (place: Place<"secret.write">, key: SecretKey) {
      const claimed = yield* changes.claim(place)
      const removed = yield* history.findRemoved({ envId: place.env.id, key })
      if (removed === undefined) {
        return yield* new NotFound({
          message: `secret ${key} was never removed from environment ${place.env.name}`
        })
      }
      yield* sealed.checkNewest(place, { ...removed, key })
      if ((yield* repo.findLive({ envId: place.env.id, key })) !== undefined) {
        return yield* new Conflict({
          message: `secret ${key} was set again after its removal: the removed secret cannot be undeleted`
        })
      }
      const step = undeletion(key, removed)
      const written = yield* changes.restoring(claimed, [step], { moved: [{ ...removed, key }] })
      return secretWritten(claimed, step, removed)(written)
    })

    /** Finds the versions to destroy, newest first. Fails with Conflict for the current version. */
    const findEarlier = Effect.fnUntraced(function* (
      key: SecretKey,
      current: { readonly id: SecretId; readonly version: number },
      wanted: ReadonlyArray<number>
    ) {
      const newestFirst = [...new Set(wanted)].sort((a, b) => b - a)
      return yield* forEachInSlices(newestFirst, (version) =>
        Effect.gen(function* () {
          if (version === current.version) {
            return yield* new Conflict({
              message: `version ${version} of secret ${key} is the current one: write a new value before this one is destroyed`
            })
          }
          const row = yield* history.findVersion({ id: current.id, version })
          return row ?? (yield* versionNotFound(key, version))
        })
      )
    })

    /**
     * Destroys earlier versions: clears their data keys and ciphertexts, and after the commit erases them from free
     * pages and from the write-ahead log. The rows remain. `erased` waits for the commit and returns the result of the
     * erasure.
     */
    const destroy = method(
      "History.destroy",
      function* (place: Place<"secret.destroy">, key: SecretKey, wanted: ReadonlyArray<number>) {
        const destroyed_at = yield* now
        const erased = yield* Deferred.make<Erased>()
        const current = yield* changes.current(place, key)
        if (current === undefined) {
          const removed = yield* history.findRemoved({ envId: place.env.id, key })
          if (removed === undefined) return yield* secretNotFound(key)
          return yield* new NotFound({
            message: `secret ${key} is removed: undelete it first, then destroy its versions`
          })
        }
        const { id } = current
        const rows = yield* findEarlier(key, current, wanted)
        const fresh = rows.filter((row) => row.destroyed_at === null)
        recordAffected(place, [{ key, change: "destroyed", id, version: current.version }])
        const isErasing = fresh.length > 0
        if (isErasing) yield* erasures.note
        yield* forEachInSlices(fresh, ({ version }) =>
          destroyVersion({ id, version, now: destroyed_at, nothing: new Uint8Array() })
        )
        yield* audit.change(
          sourceOf(place),
          ...fresh.map(
            ({ version }) =>
              ({
                action: "secret.destroy",
                resource_type: "secret",
                resource_id: id,
                metadata: { key, version }
              }) as const
          )
        )
        const keys = fresh.flatMap(({ wrapped_key }) => (wrapped_key === null ? [] : [keyWithoutNonce(wrapped_key)]))
        yield* afterCommit(
          Effect.flatMap(isErasing ? erasures.erase(keys) : erasures.state, (how) => Deferred.succeed(erased, how))
        )
        const data = rows.map((row) => secretVersion(current.version)({ ...row, destroyed_at }))
        return { data, erased: Deferred.await(erased) }
      }
    )

    return { versions, rollback, undelete, destroy } as const
  }),
  dependencies: [Changes.Default, Versions.Default]
}) {}
