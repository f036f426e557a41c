import { actorName } from "@coffer/domain/Actor"
import { SecretId } from "@coffer/domain/Ids"
import type { SecretKey } from "@coffer/domain/Names"
import type { BundleWritten, SecretChange } from "@coffer/domain/Secret"
import { Effect, Redacted } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { AuditLog } from "../audit/AuditLog.js"
import type { AuditEvent } from "../audit/AuditEvent.js"
import { forEachInSlices } from "../EventLoop.js"
import { uuidV7 } from "../database/Uuid.js"
import { ChangesRepo, type Totals } from "./ChangesRepo.js"
import { checkLimits } from "./Limits.js"
import { SecretsRepo, type WholeRow } from "./Repo.js"
import { sizeOf, type Value, Versions } from "./Versions.js"

/** The requested changes by key: a value to set, or null to delete the secret. */
export type Wanted = ReadonlyMap<SecretKey, Value | null>

/** The version of a secret that a step replaces or deletes. */
type Replaced = Pick<WholeRow, "id" | "version" | "value_bytes">

/** The planned change of one key. */
export type Step =
  | { readonly change: "created"; readonly key: SecretKey; readonly value: Value }
  | { readonly change: "updated"; readonly key: SecretKey; readonly value: Value; readonly row: Replaced }
  | { readonly change: "deleted"; readonly key: SecretKey; readonly row: Replaced }
  | { readonly change: "unchanged"; readonly key: SecretKey; readonly version: number }

const versionAfter = (step: Step): number => {
  switch (step.change) {
    case "created":
      return 1
    case "updated":
      return step.row.version + 1
    case "deleted":
      return step.row.version
    case "unchanged":
      return step.version
  }
}

const totalsAfter = (totals: Totals, steps: ReadonlyArray<Step>) =>
  steps.reduce(
    ({ secret_count, value_bytes }, step) => {
      switch (step.change) {
        case "created":
          return { secret_count: secret_count + 1, value_bytes: value_bytes + sizeOf(step.value) }
        case "updated":
          return { secret_count, value_bytes: value_bytes - step.row.value_bytes + sizeOf(step.value) }
        case "deleted":
          return { secret_count: secret_count - 1, value_bytes: value_bytes - step.row.value_bytes }
        case "unchanged":
          return { secret_count, value_bytes }
      }
    },
    { secret_count: totals.secret_count, value_bytes: totals.value_bytes }
  )

const inByteOrder = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0

/** Returns the action and the metadata of the audit entry for a secret that was set. */
export type EventOfSet = (key: SecretKey, version: number) => Pick<AuditEvent, "action"> & { readonly metadata: object }

/** Applies many changes to the secrets of one environment in one revision, after planning them. */
export class Changes extends Effect.Service<Changes>()("@coffer/server/Changes", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const { claim, remove, setTotals } = yield* ChangesRepo
    const versions = yield* Versions
    const audit = yield* AuditLog

    /** Whether a version holds this value. One that does not decrypt counts as different, so a write replaces it. */
    const isSame = (place: Place<"secret.write">, row: WholeRow, value: Value): Effect.Effect<boolean> =>
      row.value_bytes !== sizeOf(value)
        ? Effect.succeed(false)
        : Effect.match(versions.open(place, row, row), {
            onFailure: () => false,
            onSuccess: (before) => Redacted.value(before) === Redacted.value(value)
          })

    const stepOf = Effect.fnUntraced(function* (place: Place<"secret.write">, key: SecretKey, value: Value | null) {
      const row = yield* repo.find({ envId: place.env.id, key })
      if (row === undefined) {
        const absent: Step =
          value === null ? { change: "unchanged", key, version: 0 } : { change: "created", key, value }
        return absent
      }
      yield* versions.checkNewest(place, row)
      const { id, value_bytes, version } = row
      const step: Step =
        value === null
          ? { change: "deleted", key, row: { id, version, value_bytes } }
          : (yield* isSame(place, row, value))
            ? { change: "unchanged", key, version }
            : { change: "updated", key, value, row: { id, version, value_bytes } }
      return step
    })

    /** Returns the steps for the wanted changes, merged with the `settled` steps in byte order of their keys. */
    const plan = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      wanted: Wanted,
      settled: ReadonlyArray<Step> = []
    ) {
      const steps = yield* forEachInSlices([...wanted], ([key, value]) => stepOf(place, key, value))
      return [...settled, ...steps].sort(inByteOrder)
    })

    const applyStep = (place: Place<"secret.write">, revision: number, at: string, eventOfSet: EventOfSet) =>
      Effect.fnUntraced(function* (step: Step) {
        if (step.change === "unchanged") return []
        const { key } = step
        const version = versionAfter(step)
        if (step.change === "deleted") {
          yield* remove({
            env_id: place.env.id,
            revision,
            key,
            secret_id: step.row.id,
            version,
            created_by: actorName(place.actor),
            created_at: at
          })
          const event: AuditEvent = {
            action: "secret.delete",
            resource_type: "secret",
            resource_id: step.row.id,
            metadata: { key, version }
          }
          return [event]
        }
        const id = step.change === "updated" ? step.row.id : SecretId.make(yield* uuidV7)
        yield* versions.write(place, { id, key, version }, step.value, { revision, at })
        const { action, metadata } = eventOfSet(key, version)
        const event: AuditEvent = { action, resource_type: "secret", resource_id: id, metadata: { ...metadata } }
        return [event]
      })

    const bundleWritten = (revision: number, steps: ReadonlyArray<Step>): BundleWritten => ({
      revision,
      data: steps.map((step): SecretChange => ({ key: step.key, version: versionAfter(step), change: step.change }))
    })

    /**
     * Applies steps in the caller's transaction, with one new revision and one audit entry per changed key. If nothing
     * changes or `dryRun` is set, nothing is written and the revision stays.
     */
    const apply = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      totals: Totals,
      steps: ReadonlyArray<Step>,
      options: {
        readonly at: string
        readonly dryRun: boolean
        readonly eventOfSet: EventOfSet
        /** An audit entry to write before those of the changed keys. */
        readonly eventOfAll?: (revision: number) => AuditEvent
      }
    ) {
      const after = totalsAfter(totals, steps)
      yield* checkLimits(totals, after)
      if (options.dryRun || steps.every(({ change }) => change === "unchanged"))
        return bundleWritten(totals.revision, steps)
      const revision = totals.revision + 1
      const events = yield* forEachInSlices(steps, applyStep(place, revision, options.at, options.eventOfSet))
      yield* setTotals({ id: place.env.id, revision, ...after })
      const first = options.eventOfAll === undefined ? [] : [options.eventOfAll(revision)]
      yield* audit.write(sourceOf(place), ...first, ...events.flat())
      return bundleWritten(revision, steps)
    })

    return { claim, plan, apply } as const
  }),
  dependencies: [SecretsRepo.Default, ChangesRepo.Default, Versions.Default]
}) {}
