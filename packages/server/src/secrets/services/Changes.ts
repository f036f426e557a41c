import { actorName, mayReveal } from "@coffer/domain/access/Actor"
import type { ValidationError } from "@coffer/domain/errors/Errors"
import type { EnvId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import type { BundleWritten } from "@coffer/domain/secrets/Bundle"
import type { SecretWritten } from "@coffer/domain/secrets/Secret"
import * as Effect from "effect/Effect"
import { type EnvPlace, type Place, sourceOf } from "../../access/Access.js"
import { admitKeys } from "../../access/AllowedKeys.js"
import type { FoundPlace } from "../../access/place/PlaceRow.js"
import { recordAffected, recordRevision } from "../../access/Affected.js"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import type { Transaction } from "../../database/Database.js"
import { now } from "../../base/Time.js"
import { warningsOf, WriteChecks } from "../declared/WriteChecks.js"
import { type Admitted, type Change, referenceAt, ReferenceChecks } from "../references/ReferenceChecks.js"
import { changesRepo } from "../stored/ChangesRepo.js"
import { checkLimits } from "../stored/Limits.js"
import { secretsRepo } from "../stored/Repo.js"
import { Versions } from "../stored/Versions.js"
import { Widening } from "../use-rules/Widening.js"
import { type Claimed, makeChangePlans } from "./ChangePlans.js"
import { inParts, isSet, type Moved, movesOf, type Step, totalsAfter, affectedBy, valueChangesIn } from "./Steps.js"

interface ApplyOptions {
  readonly dryRun?: boolean
  /** Whether keys may go that others refer to. */
  readonly force?: boolean | undefined
  /** The note in the revision's history. */
  readonly note?: string | undefined
  /** How values are validated against the declared keys; see `WriteChecks.validate`. Without it, they are not. */
  readonly values?: "given" | "moved" | "restored"
  /** The versions whose values are moved, if the caller does not give the values. */
  readonly moved?: ReadonlyArray<Moved>
  /** Returns the facts in the audit entry of a set key, besides the key and its version. */
  readonly recorded?: (key: SecretKey) => {
    readonly action?: "secret.copy" | "secret.rotated"
    readonly [name: string]: unknown
  }
  /** An audit entry to write before those of the changed keys. */
  readonly eventOfAll?: (revision: number) => AuditEvent
}

const eventOf = (
  step: Exclude<Step, { readonly change: "unchanged" }>,
  recorded: ApplyOptions["recorded"] = () => ({})
): AuditEvent => {
  const { id, key, version } = step
  const { action = "secret.set", ...more } = isSet(step) ? recorded(key) : {}
  return {
    action: step.change === "deleted" ? "secret.delete" : step.change === "undeleted" ? "secret.undelete" : action,
    resource_type: "secret",
    resource_id: id,
    metadata: { key, version, ...more }
  }
}

/** The answer to the write of one secret. */
export const secretWritten =
  (claimed: Claimed, { key, version }: Step, current: { readonly created_at: string } | undefined) =>
  ({ warnings = [] }: BundleWritten): SecretWritten => ({
    key,
    version,
    created_at: current?.created_at ?? claimed.at,
    updated_at: claimed.at,
    ...warningsOf(warnings)
  })

/** Plans changes of the secrets of one environment, and applies them in one revision: every write of secrets is one. */
export class Changes extends Effect.Service<Changes>()("@coffer/server/Changes", {
  effect: Effect.gen(function* () {
    const repo = yield* secretsRepo
    const { addNote, moveDues, remove, restore, retryTargets, setTotals, totals, totalsAhead } = yield* changesRepo
    const versions = yield* Versions
    const plans = yield* makeChangePlans
    const audit = yield* AuditLog
    const references = yield* ReferenceChecks
    const widening = yield* Widening
    const { validate } = yield* WriteChecks

    /**
     * Sends what a change reads first, by `find` of its secrets: see `Access.change`. `removes` says whether secrets go to which
     * others may refer.
     */
    const ahead =
      (find: (envId: EnvId) => Effect.Effect<void, never, Transaction>, removes: boolean) =>
      ({ env, project }: FoundPlace): Effect.Effect<void, never, Transaction> =>
        env === null || project === null
          ? Effect.void
          : Effect.zipRight(
              Effect.zipRight(totalsAhead(env), find(env.id)),
              removes ? references.goneAhead(project.id, env.name) : Effect.void
            )

    /** As `ahead`, for one key or for several. */
    const aheadOf = (key: SecretKey, removes: boolean) => ahead((envId) => repo.findLive.ahead({ envId, key }), removes)
    const aheadOfSome = (keys: ReadonlyArray<SecretKey>, removes: boolean) =>
      ahead((envId) => repo.selectAhead(envId, keys), removes)

    /** Begins a change. Call it in the transaction. */
    const claim = (place: Place<"secret.write">) =>
      Effect.map(Effect.all({ at: now, totals: totals(place.env) }), (found): Claimed => ({ place, ...found }))

    /** Finds the live secret of a key. Fails if its current version is not the newest. */
    const current = Effect.fnUntraced(function* (place: EnvPlace<Action>, key: SecretKey) {
      const row = yield* repo.findLive({ envId: place.env.id, key })
      if (row !== undefined) yield* versions.checkNewest(place, { ...row, key })
      return row
    })

    /** Applies steps in as few statements as possible. Returns their audit entries, in the steps' order. */
    const applySome = Effect.fnUntraced(function* (
      { at, place }: Claimed,
      revision: number,
      steps: ReadonlyArray<Step>,
      admitted: Admitted,
      recorded: ApplyOptions["recorded"]
    ) {
      yield* versions.write(place, steps.filter(isSet), { revision, at }, admitted)
      const events: Array<AuditEvent> = []
      for (const step of steps) {
        if (step.change === "unchanged") continue
        events.push(eventOf(step, recorded))
        if (isSet(step)) continue
        const { change, id, key, version } = step
        const row = { env_id: place.env.id, revision, key, secret_id: id, version }
        yield* (change === "deleted" ? remove : restore)({ ...row, created_by: actorName(place.actor), created_at: at })
      }
      return events
    })

    /** Returns what a step changes in the references of its key. Fails with ValidationError for a malformed one. */
    const referencesOf = (step: Step): Effect.Effect<ReadonlyArray<readonly [SecretKey, Change]>, ValidationError> => {
      const { key } = step
      switch (step.change) {
        case "unchanged":
          return Effect.succeed([])
        case "deleted":
          return Effect.succeed([[key, { kind: "gone" }]])
        case "undeleted":
          return Effect.map(references.changeOf(step.id, step.version), (change) => [[key, change]])
        default:
          return step.content.kind === "text"
            ? Effect.succeed([[key, { kind: "text" }]])
            : Effect.map(referenceAt(key, step.content.value), (change) => [[key, change]])
      }
    }

    /**
     * Applies steps in the transaction, with one new revision and one audit entry per changed key. If nothing changes or `dryRun`
     * is set, nothing is written and the revision stays.
     */
    const apply = Effect.fnUntraced(function* (
      claimed: Claimed,
      steps: ReadonlyArray<Step>,
      { dryRun = false, eventOfAll, force = false, moved, note, recorded, values }: ApplyOptions
    ) {
      const { place, totals } = claimed
      yield* admitKeys(
        audit,
        place,
        steps.map(({ key }) => key)
      )
      const arriving = moved === undefined ? undefined : movesOf(steps, moved)
      yield* widening.check(place, arriving?.filter(({ isNew }) => !isNew) ?? [])
      const after = totalsAfter(totals, steps)
      yield* checkLimits(totals, after)
      const changes = new Map((yield* Effect.forEach(steps, referencesOf)).flat())
      const admitted = yield* references.admit(place, changes, { force, arriving })
      // Whether an unchanged value was validated would reveal to such an account that it is unchanged.
      const all = !mayReveal(place.actor)
      const valueChanges = values === undefined ? [] : steps.flatMap((step) => valueChangesIn(step, all))
      const warnings = yield* validate(place, totals, valueChanges, values)
      if (place.decision !== null) recordAffected(place, affectedBy(steps, arriving))
      const isIdle = dryRun || steps.every(({ change }) => change === "unchanged")
      const revision = totals.revision + (isIdle ? 0 : 1)
      const data = steps.map(({ change, key, version }) => ({ key, version, change }))
      const written: BundleWritten = { revision, ...warningsOf(warnings), data }
      if (isIdle) return written
      const events = yield* forEachInSlices(inParts(steps), (some) =>
        applySome(claimed, revision, some, admitted, recorded)
      )
      // A new secret has no due date yet.
      const isUpdating = steps.some(({ change }) => change === "updated")
      if (isUpdating) yield* moveDues(totals, place.env.id, { revision, at: claimed.at })
      yield* retryTargets(totals, place.env.id, revision)
      yield* setTotals({ id: place.env.id, revision, ...after })
      if (note !== undefined) yield* addNote({ envId: place.env.id, revision, note })
      recordRevision(place, revision)
      yield* audit.change(
        sourceOf(place),
        ...(eventOfAll === undefined ? [] : [eventOfAll(revision)]),
        ...events.flat()
      )
      return written
    })

    /** As `apply`, for values that were accepted before: they are not refused. */
    const restoring = (claimed: Claimed, steps: ReadonlyArray<Step>, options: Omit<ApplyOptions, "values">) =>
      Effect.catchTag(apply(claimed, steps, { ...options, values: "restored" }), "PatternBroken", Effect.die)

    return {
      aheadOf,
      aheadOfSome,
      claim,
      current,
      totals,
      ...plans,
      apply,
      restoring
    } as const
  }),
  dependencies: [Versions.Default, ReferenceChecks.Default, WriteChecks.Default, Widening.Default]
}) {}
