import { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type { AffectedKey } from "../../access/gate/GateDecision.js"
import { uuidV7 } from "../../base/Uuid.js"
import { type ValueChange, valueChangesOf } from "../declared/WriteChecks.js"
import type { Totals } from "../stored/ChangesRepo.js"
import type { WholeRow } from "../stored/Repo.js"
import { type Content, type NewValue, sizeOf } from "../stored/Versions.js"
import type { Move } from "../use-rules/Widening.js"

/** How many steps, and bytes of values, are encrypted and written between two looks at the clock. */
const stepsAtOnce = 64
const bytesAtOnce = 64 * 1024

/** The secret that a step changes. */
type Existing = Pick<WholeRow, "id" | "version" | "value_bytes">

/** A version of a secret, whose value moves to a key. */
export interface Moved {
  readonly key: SecretKey
  readonly id: SecretId
  readonly version: number
}

/** A key that gets a new version. */
export interface SetStep extends NewValue {
  readonly change: "created" | "updated"
  /** By how many bytes the values of the environment grow. */
  readonly growth: number
}

/** A key whose secret goes or comes back. */
interface MoveStep extends Moved {
  readonly change: "deleted" | "undeleted"
  readonly growth: number
}

interface NoStep {
  readonly change: "unchanged"
  readonly key: SecretKey
  readonly version: number
  readonly growth: 0
  /** The value that was compared. */
  readonly content?: Content
}

/** The planned change of one key, with the version that it has afterwards. */
export type Step = SetStep | MoveStep | NoStep

const isSetChange = (change: Step["change"]): boolean => change === "created" || change === "updated"

export const isSet = (step: Step): step is SetStep => isSetChange(step.change)

/** Sets a key that has no secret, or gives its secret a new version. */
export const setStep = (key: SecretKey, content: Content, row: Existing | undefined): Effect.Effect<SetStep> => {
  const bytes = sizeOf(content.value)
  return row === undefined
    ? Effect.map(uuidV7, (id) => ({
        change: "created",
        key,
        id: SecretId.make(id),
        version: 1,
        growth: bytes,
        content
      }))
    : Effect.succeed({
        change: "updated",
        key,
        id: row.id,
        version: row.version + 1,
        growth: bytes - row.value_bytes,
        content
      })
}

export const deletion = (key: SecretKey, { id, value_bytes, version }: Existing): Step => ({
  change: "deleted",
  key,
  id,
  version,
  growth: -value_bytes
})

export const undeletion = (key: SecretKey, { id, value_bytes, version }: Existing): Step => ({
  change: "undeleted",
  key,
  id,
  version,
  growth: value_bytes
})

export const unchanged = (key: SecretKey, version: number, content?: Content): Step => ({
  change: "unchanged",
  key,
  version,
  growth: 0,
  ...(content !== undefined && { content })
})

const counts = { created: 1, undeleted: 1, updated: 0, unchanged: 0, deleted: -1 } as const

export const totalsAfter = ({ secret_count, value_bytes }: Totals, steps: ReadonlyArray<Step>) => ({
  secret_count: steps.reduce((sum, { change }) => sum + counts[change], secret_count),
  value_bytes: steps.reduce((sum, { growth }) => sum + growth, value_bytes)
})

/** The steps that bring values of other secrets or versions to keys. */
export const movesOf = (
  steps: ReadonlyArray<Step>,
  moved: ReadonlyArray<Moved>
): ReadonlyArray<Move & { readonly isNew: boolean }> => {
  const sources = new Map(moved.map((source) => [source.key, source]))
  return steps.flatMap((step) => {
    const from = sources.get(step.key)
    return from === undefined || step.change === "deleted" || step.change === "unchanged"
      ? []
      : [{ key: step.key, from, to: step.id, isNew: step.change === "created" }]
  })
}

/** Returns the keys that steps alter, with the versions whose values move. */
export const affectedBy = (
  steps: ReadonlyArray<Step>,
  moves: ReadonlyArray<Move> | undefined
): ReadonlyArray<AffectedKey> => {
  const sources = new Map(moves?.map(({ from, key }) => [key, `${from.id} ${from.version}`]))
  return steps.flatMap((step): ReadonlyArray<AffectedKey> => {
    const { change, key, version } = step
    if (change === "unchanged") return []
    const from = sources.get(key)
    const affected = { key, change, ...(change !== "created" && { id: step.id }), ...(from !== undefined && { from }) }
    return isSet(step)
      ? [{ ...affected, version: version - 1, ...(step.content.kind === "reference" && { refers: true }) }]
      : [{ ...affected, version }]
  })
}

/** The values to validate. With `all`, also those that are unchanged. */
export const valueChangesIn = (step: Step, all: boolean): ReadonlyArray<ValueChange> => {
  if (step.change === "deleted") return valueChangesOf(step.key, null)
  const content = isSet(step) || (all && step.change === "unchanged") ? step.content : undefined
  return content === undefined ? [] : valueChangesOf(step.key, content)
}

/** Splits steps into parts that are written without blocking the event loop. */
export const inParts = (steps: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<Step>> => {
  const parts: Array<Array<Step>> = []
  let bytes = bytesAtOnce
  for (const step of steps) {
    const more = isSet(step) ? sizeOf(step.content.value) : 0
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

export const inByteOrder = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0
