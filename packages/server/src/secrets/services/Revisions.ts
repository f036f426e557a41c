import { maxRevisionChanges } from "@coffer/domain/api/EnvironmentsApi"
import { Conflict, NotFound } from "@coffer/domain/errors/Errors"
import type { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Revision } from "@coffer/domain/secrets/Revision"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { withinKeys } from "../../access/AllowedKeys.js"
import { Database } from "../../database/Database.js"
import { kindOf } from "../../keys/Envelope.js"
import { Instance } from "../../keys/Instance.js"
import { method } from "../../base/tracing/Traced.js"
import { requestsRepo } from "../../directory/requests/Repo.js"
import { textsIn } from "../../directory/requests/RequestViews.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { type Claimed, type Draft, smallChange, type Wanted } from "./ChangePlans.js"
import { Changes } from "./Changes.js"
import { unchanged } from "./Steps.js"
import { checkMatch, etagOf } from "../stored/EnvironmentETag.js"
import { type ChangeRow, historyRepo } from "../stored/HistoryRepo.js"
import { missingEnvironment, secretsRepo } from "../stored/Repo.js"
import { type Content, Versions } from "../stored/Versions.js"

const defaultLimit = 100

/** How many keys a message names. */
const maxNamed = 20

/** The version of a key at an earlier revision. */
interface Earlier {
  readonly key: SecretKey
  readonly id: SecretId
  readonly version: number
  readonly isDestroyed: boolean
}

export interface RevertRequest {
  readonly to: number
  readonly dry_run?: boolean
  readonly force?: boolean
}

/**
 * A revert that was planned before its transaction. It holds as long as the environment has the same revision and all versions
 * exist that it restores: destroying one makes no revision.
 */
export interface PreparedRevert {
  readonly to: number
  readonly moved: ReadonlyArray<Earlier>
  readonly draft: Draft
}

/** Returns the changes of a revert: the versions that come back, the keys that go, and the steps of the keys that stay. */
const differenceOf = (
  rows: ReadonlyArray<{ readonly key: SecretKey; readonly id: SecretId; readonly version: number }>,
  state: ReadonlyArray<Earlier>
) => {
  const current = new Map(rows.map((row) => [row.key, row]))
  const then = new Set(state.map(({ key }) => key))
  const isCurrent = ({ id, key, version }: Earlier) =>
    current.get(key)?.id === id && current.get(key)?.version === version
  const [moved, kept] = Array.partition(state, isCurrent)
  return {
    moved,
    settled: kept.map(({ key, version }) => unchanged(key, version)),
    gone: rows.filter(({ key }) => !then.has(key)).map(({ key }) => [key, null] as const)
  }
}

const revisionOf = ([first, ...rest]: Array.NonEmptyReadonlyArray<ChangeRow>): Revision => ({
  revision: first.revision,
  created_at: first.created_at,
  created_by: first.created_by,
  keys: [first, ...rest].map(({ change, key, version }) => ({ key, version, change })).reverse()
})

const named = (keys: ReadonlyArray<SecretKey>): string =>
  keys.length <= maxNamed ? keys.join(", ") : `${keys.slice(0, maxNamed).join(", ")} and ${keys.length - maxNamed} more`

/** Lists the revisions of an environment and reverts to one. Returns no values. */
export class Revisions extends Effect.Service<Revisions>()("@coffer/server/Revisions", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const history = yield* historyRepo
    const requests = yield* requestsRepo
    const changes = yield* Changes
    const versions = yield* Versions
    const { epoch } = yield* Instance
    const { snapshot } = yield* Database

    /** Adds the notes of revisions of which a key is shown, and the people who approved them. */
    const described = Effect.fnUntraced(function* (place: Place<"secret.list">, page: ReadonlyArray<Revision>) {
      const [newest, oldest] = [page[0], page.at(-1)]
      if (newest === undefined || oldest === undefined) return page
      const range = { envId: place.env.id, from: oldest.revision, to: newest.revision }
      const visible = new Set(page.flatMap(({ keys, revision }) => (keys.length === 0 ? [] : [revision])))
      const notes = new Map(
        (yield* history.notes(range)).flatMap(({ note, revision }) =>
          visible.has(revision) ? [[revision, { note }] as const] : []
        )
      )
      const rows = yield* requests.ofRevisions(range)
      const approved = new Map(
        rows.map(({ approved_by, id, revision }) => [revision, { request_id: id, approved_by: textsIn(approved_by) }])
      )
      return page.map((revision): Revision => ({
        ...revision,
        ...approved.get(revision.revision),
        ...notes.get(revision.revision)
      }))
    })

    /** Lists the revisions of an environment, newest first. With `before`, only lower revisions. */
    const list = method(
      "Revisions.list",
      function* (place: Place<"secret.list">, page: { readonly limit?: number; readonly before?: number }) {
        const limit = page.limit ?? defaultLimit
        const rows = yield* history.changes({
          envId: place.env.id,
          before: page.before ?? Number.MAX_SAFE_INTEGER,
          revisions: limit,
          limit: maxRevisionChanges + 1
        })
        const revisions = Object.values(Array.groupBy(rows, ({ revision }) => String(revision))).map(revisionOf)
        revisions.sort((a, b) => b.revision - a.revision)
        // The oldest revision on a full page may be incomplete.
        const shown = revisions.slice(
          0,
          rows.length > maxRevisionChanges ? Math.min(limit, revisions.length - 1) : limit
        )
        return yield* described(
          place,
          shown.map((revision) => ({ ...revision, keys: withinKeys(place, revision.keys) }))
        )
      }
    )

    /** Returns the current revision, when the environment was created, and when its newest secret was set. */
    const current = method("Revisions.current", function* (place: Place<"secret.list">) {
      const { id, name } = place.env
      return (yield* repo.state({ envId: id })) ?? (yield* missingEnvironment(name))
    })

    /** Returns the version of each key at a revision, without keys that had no secret. */
    const stateAt = Effect.fnUntraced(function* (place: Place<"secret.write">, revision: number) {
      const rows = yield* history.changesUpTo(place.env.id, revision)
      return rows.flatMap(({ change, destroyed, key, secret_id: id, version }): ReadonlyArray<Earlier> =>
        id === null || version === null || change === "deleted"
          ? []
          : [{ key, id, version, isDestroyed: destroyed === 1 }]
      )
    })

    /** Fails with Conflict if one of the versions was destroyed. */
    const checkExisting = (
      place: Place<"secret.write">,
      revision: number,
      state: ReadonlyArray<Earlier>
    ): Effect.Effect<void, Conflict> => {
      const destroyed = state.flatMap(({ isDestroyed, key }) => (isDestroyed ? [key] : []))
      return destroyed.length === 0
        ? Effect.void
        : new Conflict({
            message: `revision ${revision} of environment ${place.env.name} cannot be made again: the values that these keys had were destroyed: ${named(destroyed)}`
          })
    }

    /** Reads the encrypted columns of versions that exist. */
    const sealedOf = (state: ReadonlyArray<Earlier>) =>
      forEachInSlices(state, (of) =>
        Effect.flatMap(history.findVersion({ id: of.id, version: of.version }), (row) =>
          row === undefined ? Effect.dieMessage("a version that exists has no row") : Effect.succeed({ ...row, ...of })
        )
      )

    const valuesOf = (place: Place<"secret.write">, sealed: Effect.Effect.Success<ReturnType<typeof sealedOf>>) =>
      Effect.map(
        versions.openAll(place, sealed),
        Array.zipWith(sealed, (value, row): readonly [SecretKey, Content] => [row.key, { kind: kindOf(row), value }])
      )

    /** Does the work of a large revert that needs no transaction. Call it before the transaction of `revert`. */
    const prepare = Effect.fnUntraced(function* <E, R>(
      entering: Effect.Effect<Place<"secret.write">, E, R>,
      { dry_run, to }: RevertRequest
    ) {
      yield* changes.beginLarge
      const place = yield* entering
      // Values are decrypted and encrypted after the snapshot, for which other readers wait.
      const read = yield* snapshot(
        Effect.gen(function* () {
          const difference = differenceOf(yield* repo.list(place.env.id), yield* stateAt(place, to))
          const { moved } = difference
          if (moved.length <= smallChange || moved.some(({ isDestroyed }) => isDestroyed)) return null
          const contents = yield* repo.contents(place.env.id, undefined)
          if (contents === undefined || to > contents.revision) return null
          return { ...difference, contents, sealed: yield* sealedOf(moved) }
        })
      )
      if (read === null) return null
      const { contents, gone, moved, sealed, settled } = read
      for (const row of contents.secrets) yield* versions.checkNewest(place, row)
      const wanted: Wanted = new Map([...(yield* valuesOf(place, sealed)), ...gone])
      const draft = yield* changes.draftFrom(place, contents, wanted, { dryRun: dry_run === true, settled })
      return { to, moved, draft } satisfies PreparedRevert
    })

    /** Plans the steps from the current state to an earlier one, within the transaction. */
    const planned = Effect.fnUntraced(function* (
      claimed: Claimed,
      revision: number,
      state: ReadonlyArray<Earlier>,
      dryRun: boolean
    ) {
      const { place } = claimed
      const rows = yield* repo.list(place.env.id)
      for (const row of rows) yield* versions.checkNewest(place, row)
      const { gone, moved, settled } = differenceOf(rows, state)
      yield* checkExisting(place, revision, moved)
      const wanted: Wanted = new Map([...(yield* valuesOf(place, yield* sealedOf(moved))), ...gone])
      return { steps: yield* changes.plan(claimed, wanted, { dryRun, settled }), moved }
    })

    /** The steps from the current state to the state at a revision, as they were prepared or as they are now. */
    const stepsTo = Effect.fnUntraced(function* (
      claimed: Claimed,
      revision: number,
      dryRun: boolean,
      prepared: PreparedRevert | null
    ) {
      const state = yield* stateAt(claimed.place, revision)
      const holds =
        prepared?.to === revision &&
        changes.isCurrent(prepared.draft, claimed) &&
        !state.some(({ isDestroyed }) => isDestroyed)
      return holds
        ? { moved: prepared.moved, steps: prepared.draft.steps }
        : yield* planned(claimed, revision, state, dryRun)
    })

    /**
     * Reverts an environment to an earlier revision, in one new revision; 0 deletes all secrets. Fails with Conflict if
     * the state is unknown, if it needs a destroyed value, or if `ifMatch` does not name the current ETag. `prepared` is what
     * `prepare` returned.
     */
    const revert = method(
      "Revisions.revert",
      function* (
        place: Place<"secret.write">,
        request: RevertRequest,
        ifMatch: string | undefined,
        prepared: PreparedRevert | null = null
      ) {
        const { to } = request
        const { id, name } = place.env
        const tagOf = (revision: number) => etagOf(epoch, { id, revision })
        const claimed = yield* changes.claim(place)
        const { totals } = claimed
        if (to > totals.revision) {
          return yield* new NotFound({
            message: `revision ${to} of environment ${name} does not exist: the latest is ${totals.revision}`
          })
        }
        yield* checkMatch(name, ifMatch, tagOf(totals.revision))
        const since = to === 0 ? undefined : yield* history.wholeSince({ envId: id })
        if (since !== undefined && to < since.revision) {
          return yield* new Conflict({
            message: `revision ${to} of environment ${name} cannot be made again: an import, or an earlier version of the server, did not record which keys were deleted and undeleted before revision ${since.revision}`
          })
        }
        const { dry_run: dryRun = false, force = false } = request
        const { moved, steps } = yield* stepsTo(claimed, to, dryRun, prepared)
        const written = yield* changes.restoring(claimed, steps, {
          dryRun,
          force,
          moved,
          recorded: () => ({ reverted_to: to }),
          eventOfAll: (revision) => ({
            action: "env.revert",
            resource_type: "env",
            resource_id: id,
            metadata: { project: place.project.name, env: name, to, revision }
          })
        })
        return { etag: tagOf(written.revision), written }
      }
    )

    return { current, list, prepare, revert } as const
  }),
  dependencies: [Changes.Default, Versions.Default]
}) {}
