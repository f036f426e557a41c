import { actorName } from "@coffer/domain/Actor"
import type { ValidationError } from "@coffer/domain/Errors"
import type { KeyWarning } from "@coffer/domain/DeclaredKey"
import { type EnvId, SecretId } from "@coffer/domain/Ids"
import type { SecretKey } from "@coffer/domain/Names"
import type { BundleWritten, SecretChange } from "@coffer/domain/Secret"
import { Effect, Redacted } from "effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { type ValueChange, valueChangesOf, warningsOf, WriteChecks } from "../declared/WriteChecks.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { uuidV7 } from "../../base/Uuid.js"
import { ChangesRepo, type Totals } from "../stored/ChangesRepo.js"
import { checkLimits } from "../stored/Limits.js"
import type { Arrival } from "../references/ReferenceRules.js"
import { mayReveal, type Move } from "../use-rules/Widening.js"
import { type Contents, SecretsRepo, type WholeRow } from "../stored/Repo.js"
import { kindOf, type Sealed } from "../../keys/Envelope.js"
import {
  type Admitted,
  type Change,
  type Options,
  referenceAt,
  ReferenceChecks
} from "../references/ReferenceChecks.js"
import { type Content, type NewValue, sizeOf, Versions, type WrittenAt } from "../stored/Versions.js"

/** How many steps, and bytes of values, are encrypted and written between two looks at the clock. */
const stepsAtOnce = 64
const bytesAtOnce = 64 * 1024

/** Changes of more keys are planned and encrypted before their transaction, which keeps other writers waiting. */
export const smallChange = 50

/** The requested changes by key: what to set, or null to delete the secret. */
export type Wanted = ReadonlyMap<SecretKey, Content | null>

/** The version of a secret that a step replaces or deletes. */
type Replaced = Pick<WholeRow, "id" | "version" | "value_bytes">

/** A version that was encrypted before the transaction. */
export interface SealedBefore {
  readonly id: SecretId
  readonly columns: Sealed
}

/** The planned change of one key. */
export type Step =
  | {
      readonly change: "created"
      readonly key: SecretKey
      readonly content: Content
      readonly sealed?: SealedBefore
    }
  | {
      readonly change: "updated"
      readonly key: SecretKey
      readonly content: Content
      readonly row: Replaced
      readonly sealed?: SealedBefore
    }
  | { readonly change: "deleted"; readonly key: SecretKey; readonly row: Replaced }
  | {
      readonly change: "unchanged"
      readonly key: SecretKey
      readonly version: number
      /** The value that was compared. */
      readonly content?: Content
    }

/** A plan that holds as long as its environment has the same revision. */
export interface Draft {
  readonly envId: EnvId
  readonly revision: number
  readonly steps: ReadonlyArray<Step>
}

interface PlanOptions {
  readonly dryRun: boolean
  /** Steps that are known already. */
  readonly settled?: ReadonlyArray<Step>
}

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
          return { secret_count: secret_count + 1, value_bytes: value_bytes + sizeOf(step.content.value) }
        case "updated":
          return { secret_count, value_bytes: value_bytes - step.row.value_bytes + sizeOf(step.content.value) }
        case "deleted":
          return { secret_count: secret_count - 1, value_bytes: value_bytes - step.row.value_bytes }
        case "unchanged":
          return { secret_count, value_bytes }
      }
    },
    { secret_count: totals.secret_count, value_bytes: totals.value_bytes }
  )

/** Values copied into existing secrets. */
export const movesOf = (
  steps: ReadonlyArray<Step>,
  from: ReadonlyArray<{ readonly key: SecretKey; readonly id: SecretId; readonly version: number }>
): ReadonlyArray<Move> => {
  const sources = new Map(from.map((source) => [source.key, source]))
  return steps.flatMap((step) => {
    const source = sources.get(step.key)
    return step.change === "updated" && source !== undefined ? [{ key: step.key, from: source, to: step.row.id }] : []
  })
}

/** The values that steps move from secrets to keys. */
export const arrivalsOf = (
  steps: ReadonlyArray<Step>,
  from: ReadonlyArray<{ readonly key: SecretKey; readonly id: SecretId; readonly version: number }>
): ReadonlyArray<Arrival> => {
  const sources = new Map(from.map((source) => [source.key, source]))
  return steps.flatMap(({ change, key }) => {
    const source = sources.get(key)
    return change === "deleted" || change === "unchanged" || source === undefined ? [] : [{ key, from: source }]
  })
}

/** Splits steps into parts that are written without blocking the event loop. */
const inParts = (steps: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<Step>> => {
  const parts: Array<Array<Step>> = []
  let bytes = bytesAtOnce
  for (const step of steps) {
    const more = step.change === "created" || step.change === "updated" ? sizeOf(step.content.value) : 0
    const last = parts.at(-1)
    if (last === undefined || last.length === stepsAtOnce || bytes + more > bytesAtOnce) {
      parts.push([step])
      bytes = more
    } else {
      last.push(step)
      bytes += more
    }
  }
  return parts
}

const inByteOrder = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0

const valueChangesIn = (step: Step): ReadonlyArray<ValueChange> =>
  step.change === "unchanged" ? [] : valueChangesOf(step.key, step.change === "deleted" ? null : step.content)

/** As `valueChangesIn`, also for a value that is unchanged: whether it was validated would reveal that it is. */
const allValueChangesIn = (step: Step): ReadonlyArray<ValueChange> =>
  step.change !== "unchanged"
    ? valueChangesIn(step)
    : step.content === undefined
      ? []
      : valueChangesOf(step.key, step.content)

/** Returns the action and the metadata of the audit entry for a secret that was set. */
export type EventOfSet = (key: SecretKey, version: number) => Pick<AuditEvent, "action"> & { readonly metadata: object }

/** Applies many changes to the secrets of one environment in one revision, after planning them. */
export class Changes extends Effect.Service<Changes>()("@coffer/server/Changes", {
  effect: Effect.gen(function* () {
    const repo = yield* SecretsRepo
    const { moveDues, remove, setTotals, totals } = yield* ChangesRepo
    const versions = yield* Versions
    const audit = yield* AuditLog
    const references = yield* ReferenceChecks
    const { validate, validateRestored } = yield* WriteChecks

    /** Whether a version holds this value. One that does not decrypt counts as different, so a write replaces it. */
    const isSame = (place: Place<"secret.write">, row: WholeRow, { kind, value }: Content): Effect.Effect<boolean> =>
      row.value_bytes !== sizeOf(value) || kindOf(row) !== kind
        ? Effect.succeed(false)
        : Effect.match(versions.open(place, row, row), {
            onFailure: () => false,
            onSuccess: (before) => Redacted.value(before) === Redacted.value(value)
          })

    const stepOf = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      row: WholeRow | undefined,
      key: SecretKey,
      content: Content | null,
      compares: boolean
    ) {
      if (row === undefined) {
        const absent: Step =
          content === null ? { change: "unchanged", key, version: 0 } : { change: "created", key, content }
        return absent
      }
      yield* versions.checkNewest(place, row)
      const { id, value_bytes, version } = row
      const step: Step =
        content === null
          ? { change: "deleted", key, row: { id, version, value_bytes } }
          : compares && (yield* isSame(place, row, content))
            ? { change: "unchanged", key, version, content }
            : { change: "updated", key, content, row: { id, version, value_bytes } }
      return step
    })

    /**
     * Whether steps may say that a value is unchanged. Accounts that are never given values could test guesses by dry runs, which
     * no audit entry records.
     */
    const mayCompare = ({ actor }: Place<"secret.write">, dryRun: boolean): boolean => !dryRun || mayReveal(actor)

    /** Whether a draft holds in the transaction. */
    const isCurrent = (draft: Draft | null, { env }: Place<"secret.write">, totals: Totals): draft is Draft =>
      draft?.envId === env.id && draft.revision === totals.revision

    /** Returns the steps for the wanted changes, merged with the `settled` steps in byte order of their keys. */
    const plan = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      totals: Totals,
      wanted: Wanted,
      { dryRun, settled = [] }: PlanOptions
    ) {
      // Pages of the whole environment take fewer statements than many keys.
      const keys = wanted.size > totals.secret_count / 20 ? undefined : [...wanted.keys()]
      const rows = new Map((yield* repo.select(place.env.id, keys)).map((row) => [row.key, row]))
      const compares = mayCompare(place, dryRun)
      const steps = yield* forEachInSlices([...wanted], ([key, content]) =>
        stepOf(place, rows.get(key), key, content, compares)
      )
      return [...settled, ...steps].sort(inByteOrder)
    })

    const sealedStep = Effect.fnUntraced(function* (place: Place<"secret.write">, step: Step) {
      if (step.change !== "created" && step.change !== "updated") return step
      const id = step.change === "created" ? SecretId.make(yield* uuidV7) : step.row.id
      const columns = yield* versions.seal(place, { id, key: step.key, version: versionAfter(step), ...step.content })
      return { ...step, sealed: { id, columns } } satisfies Step
    })

    /** As `draft`, from the contents of the environment. */
    const draftFrom = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      { revision, secrets }: Pick<Contents, "revision" | "secrets">,
      wanted: Wanted,
      { dryRun, settled = [] }: PlanOptions
    ) {
      const rows = new Map(secrets.map((row) => [row.key, row]))
      const compares = mayCompare(place, dryRun)
      const steps = yield* forEachInSlices([...wanted], ([key, content]) =>
        Effect.flatMap(stepOf(place, rows.get(key), key, content, compares), (step) =>
          dryRun ? Effect.succeed(step) : sealedStep(place, step)
        )
      )
      return { envId: place.env.id, revision, steps: [...settled, ...steps].sort(inByteOrder) } satisfies Draft
    })

    /**
     * Plans a large change outside of its transaction, and encrypts its values. Returns null if the environment is removed. If it
     * changes before the transaction, the transaction plans again.
     */
    const draft = Effect.fnUntraced(function* (place: Place<"secret.write">, wanted: Wanted, dryRun: boolean) {
      const contents = yield* repo.contents(place.env.id, undefined)
      return contents === undefined ? null : yield* draftFrom(place, contents, wanted, { dryRun })
    })

    const removed = (place: Place<"secret.write">, at: WrittenAt, { key, row }: Extract<Step, { change: "deleted" }>) =>
      remove({
        env_id: place.env.id,
        revision: at.revision,
        key,
        secret_id: row.id,
        version: row.version,
        created_by: actorName(place.actor),
        created_at: at.at
      })

    /** Applies the steps in as few statements as possible. Returns their audit entries, in the steps' order. */
    const applySome = (place: Place<"secret.write">, at: WrittenAt, eventOfSet: EventOfSet, admitted: Admitted) =>
      Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
        const written: Array<NewValue> = []
        const events: Array<AuditEvent> = []
        for (const step of steps) {
          if (step.change === "unchanged") continue
          const { key } = step
          const version = versionAfter(step)
          const sealed = step.change === "deleted" ? undefined : step.sealed
          const id = sealed?.id ?? (step.change === "created" ? SecretId.make(yield* uuidV7) : step.row.id)
          if (step.change !== "deleted") written.push({ id, key, version, sealed: sealed?.columns, ...step.content })
          const { action, metadata } =
            step.change === "deleted"
              ? ({ action: "secret.delete", metadata: { key, version } } as const)
              : eventOfSet(key, version)
          events.push({ action, resource_type: "secret", resource_id: id, metadata: { ...metadata } })
        }
        yield* versions.write(place, written, at, admitted)
        for (const step of steps) if (step.change === "deleted") yield* removed(place, at, step)
        return events
      })

    /** What the steps make of references. Fails with ValidationError for a malformed one. */
    const referencesOf = (steps: ReadonlyArray<Step>) =>
      Effect.map(
        Effect.forEach(steps, (step): Effect.Effect<ReadonlyArray<readonly [SecretKey, Change]>, ValidationError> => {
          if (step.change === "unchanged") return Effect.succeed([])
          if (step.change === "deleted") return Effect.succeed([[step.key, { kind: "gone" }]])
          return step.content.kind === "text"
            ? Effect.succeed([[step.key, { kind: "text" }]])
            : Effect.map(referenceAt(step.key, step.content.value), (change) => [[step.key, change]])
        }),
        (changes): ReadonlyMap<SecretKey, Change> => new Map(changes.flat())
      )

    /** Validates steps against the declared keys; see `WriteChecks.validate`. */
    const validateSteps = (
      place: Place<"secret.write">,
      totals: Totals,
      steps: ReadonlyArray<Step>,
      values: "given" | "moved"
    ) => validate(place, totals, steps.flatMap(mayReveal(place.actor) ? valueChangesIn : allValueChangesIn), values)

    const validateRestoredSteps = (place: Place<"secret.write">, totals: Totals, steps: ReadonlyArray<Step>) =>
      validateRestored(place, totals, steps.flatMap(valueChangesIn))

    const bundleWritten = (
      revision: number,
      steps: ReadonlyArray<Step>,
      warnings: ReadonlyArray<KeyWarning>
    ): BundleWritten => ({
      revision,
      ...warningsOf(warnings),
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
        /** What `validate` returned. */
        readonly warnings?: ReadonlyArray<KeyWarning>
        /** An audit entry to write before those of the changed keys. */
        readonly eventOfAll?: (revision: number) => AuditEvent
        readonly references?: Options
      }
    ) {
      const after = totalsAfter(totals, steps)
      yield* checkLimits(totals, after)
      const admitted = yield* references.admit(place, yield* referencesOf(steps), options.references)
      const { warnings = [] } = options
      if (options.dryRun || steps.every(({ change }) => change === "unchanged"))
        return bundleWritten(totals.revision, steps, warnings)
      const revision = totals.revision + 1
      const at = { revision, at: options.at }
      const events = yield* forEachInSlices(inParts(steps), applySome(place, at, options.eventOfSet, admitted))
      yield* moveDues(totals, place.env.id, at)
      yield* setTotals({ id: place.env.id, revision, ...after })
      const first = options.eventOfAll === undefined ? [] : [options.eventOfAll(revision)]
      yield* audit.write(sourceOf(place), ...first, ...events.flat())
      return bundleWritten(revision, steps, warnings)
    })

    return {
      totals,
      draft,
      draftFrom,
      isCurrent,
      plan,
      validate: validateSteps,
      validateRestored: validateRestoredSteps,
      apply
    } as const
  }),
  dependencies: [
    SecretsRepo.Default,
    ChangesRepo.Default,
    Versions.Default,
    ReferenceChecks.Default,
    WriteChecks.Default
  ]
}) {}
