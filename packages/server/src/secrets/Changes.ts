import { actorName } from "@coffer/domain/Actor"
import { SecretId, type SecretKey } from "@coffer/domain/Names"
import type { BundleWritten, SecretChange } from "@coffer/domain/Secret"
import { Effect, Either, Redacted } from "effect"
import { type Place, sourceOf } from "../access/Access.js"
import { type AuditEvent, AuditLog } from "../audit/AuditLog.js"
import { forEachInTurns } from "../Turn.js"
import { uuidV7 } from "../database/Uuid.js"
import { checkLimits } from "./Limits.js"
import { type CurrentSecret, SecretsRepo, type Totals } from "./Repo.js"
import { sizeOf, type Value, Versions } from "./Versions.js"

type Content = ReturnType<CurrentSecret["content"]>

/** What becomes of a key: a value to set, or null to remove it. */
export type Wanted = ReadonlyMap<SecretKey, Value | null>

/** What is done to a key; `bytes` is the size of the value that goes. */
export type Step =
  | { readonly change: "created"; readonly key: SecretKey; readonly value: Value }
  | {
      readonly change: "updated"
      readonly key: SecretKey
      readonly value: Value
      readonly row: CurrentSecret
      readonly bytes: number
    }
  | { readonly change: "deleted"; readonly key: SecretKey; readonly row: CurrentSecret; readonly bytes: number }
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
          return { secret_count, value_bytes: value_bytes - step.bytes + sizeOf(step.value) }
        case "deleted":
          return { secret_count: secret_count - 1, value_bytes: value_bytes - step.bytes }
        case "unchanged":
          return { secret_count, value_bytes }
      }
    },
    { secret_count: totals.secret_count, value_bytes: totals.value_bytes }
  )

const inByteOrder = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0

/** How a set of a secret is told in the audit log, by the call that did it. */
export type EventOfSet = (key: SecretKey, version: number) => Pick<AuditEvent, "action"> & { readonly metadata: object }

/** Many changes to the secrets of one environment, as one: planned against what is there, then applied. */
export class Changes extends Effect.Service<Changes>()("@coffer/server/Changes", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const versions = yield* Versions
    const audit = yield* AuditLog

    const isSame = (place: Place<"secret.write">, row: CurrentSecret, content: Content, value: Value): boolean => {
      if (content?.value_bytes !== sizeOf(value)) return false
      const before = versions.open(place, row, content)
      return Either.isRight(before) && Redacted.value(before.right) === Redacted.value(value)
    }

    /**
     * What a write would do to each key, beside the steps that are settled already. A value that cannot be opened any more
     * counts as another one.
     */
    const plan = (
      place: Place<"secret.write">,
      rows: ReadonlyArray<CurrentSecret>,
      wanted: Wanted,
      settled: ReadonlyArray<Step> = []
    ): Effect.Effect<ReadonlyArray<Step>> => {
      const byKey = new Map(rows.map((row) => [row.key, row]))
      const stepOf = ([key, value]: readonly [SecretKey, Value | null]): Step => {
        const row = byKey.get(key)
        if (row === undefined) {
          return value === null ? { change: "unchanged", key, version: 0 } : { change: "created", key, value }
        }
        const content = row.content()
        const bytes = content?.value_bytes ?? 0
        if (value === null) return { change: "deleted", key, row, bytes }
        return isSame(place, row, content, value)
          ? { change: "unchanged", key, version: row.version }
          : { change: "updated", key, value, row, bytes }
      }
      return Effect.map(
        forEachInTurns([...wanted], (each) => Effect.sync(() => stepOf(each))),
        (steps) => [...settled, ...steps].sort(inByteOrder)
      )
    }

    const applyStep = (place: Place<"secret.write">, revision: number, at: string, eventOfSet: EventOfSet) =>
      Effect.fnUntraced(function* (step: Step) {
        if (step.change === "unchanged") return []
        const { key } = step
        const version = versionAfter(step)
        if (step.change === "deleted") {
          repo.remove({
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

    const recordOf = (revision: number, steps: ReadonlyArray<Step>): BundleWritten => ({
      revision,
      data: steps.map((step): SecretChange => ({ key: step.key, version: versionAfter(step), change: step.change }))
    })

    /**
     * Applies a plan inside the caller's transaction: one revision for all of it, one audit entry a changed key. Nothing is
     * written, and no revision used, when nothing changes or `dryRun` is set.
     */
    const apply = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      totals: Totals,
      steps: ReadonlyArray<Step>,
      options: {
        readonly at: string
        readonly dryRun: boolean
        readonly eventOfSet: EventOfSet
        /** What goes into the audit log before the changed keys. */
        readonly eventOfAll?: (revision: number) => AuditEvent
      }
    ) {
      for (const step of steps) if ("row" in step) yield* versions.checkNewest(place, step.row)
      const after = totalsAfter(totals, steps)
      yield* checkLimits(totals, after)
      if (options.dryRun || steps.every(({ change }) => change === "unchanged")) return recordOf(totals.revision, steps)
      const revision = totals.revision + 1
      const events = yield* forEachInTurns(steps, applyStep(place, revision, options.at, options.eventOfSet))
      repo.setTotals(place.env.id, { revision, ...after })
      const first = options.eventOfAll === undefined ? [] : [options.eventOfAll(revision)]
      yield* audit.write(sourceOf(place), ...first, ...events.flat())
      return recordOf(revision, steps)
    })

    return { plan, apply } as const
  }),
  dependencies: [SecretsRepo.Default, Versions.Default]
}) {}
