import { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { Expiry, RotationDays } from "@coffer/domain/secrets/Due"
import type { MatrixCell } from "@coffer/domain/secrets/Matrix"
import { Email, type EnvName, type SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { call, type Failure } from "../../../client/Calls.js"
import type { ProjectPlace } from "../../../staging/Writes.js"
import type { Grid, GridRow } from "../Grid.js"
import type { Target } from "./TargetEnvironments.js"

/** The fields to set: an absent field stays as it is, and null removes its value. */
export interface DueChange {
  readonly expires_at?: string | null
  readonly rotate_every_days?: number | null
  readonly owner?: Email | null
}

/** A change of one secret, with the one that takes it back. */
export interface DueStep {
  readonly env: EnvName
  readonly key: SecretKey
  readonly change: DueChange
  readonly before: DueChange
}

/** The texts of the form. */
export interface DueTexts {
  readonly expires: string
  readonly days: string
  readonly owner: string
}

type Field<A> = Either.Either<A | null | undefined, unknown>

/** Undefined for an empty text, null for `none`, as on the command line. */
const fieldOf = <A, I>(
  schema: Schema.Schema<A, I>,
  text: string,
  parse: (text: string) => unknown = (same) => same
): Field<A> => {
  const given = text.trim()
  if (given === "") return Either.right(undefined)
  return given === "none" ? Either.right(null) : Schema.decodeUnknownEither(schema)(parse(given))
}

/** Decodes each text. A left is a text that cannot be set. */
export const fieldsOf = ({ days, expires, owner }: DueTexts) => ({
  expires_at: fieldOf(Expiry, expires),
  rotate_every_days: fieldOf(RotationDays, days, Number),
  owner: fieldOf(Email, owner)
})

/** Returns the change that the texts describe; null if they set nothing, or if one of them cannot be set. */
export const changeOf = (texts: DueTexts): DueChange | null => {
  const fields = Either.all(fieldsOf(texts))
  if (Either.isLeft(fields)) return null
  const { expires_at, owner, rotate_every_days } = fields.right
  const change: DueChange = {
    ...(expires_at !== undefined && { expires_at }),
    ...(rotate_every_days !== undefined && { rotate_every_days }),
    ...(owner !== undefined && { owner })
  }
  return Object.keys(change).length === 0 ? null : change
}

const beforeOf = (change: DueChange, cell: MatrixCell): DueChange => ({
  ...(change.expires_at !== undefined && { expires_at: cell.expires_at ?? null }),
  ...(change.rotate_every_days !== undefined && { rotate_every_days: cell.rotate_every_days ?? null }),
  ...(change.owner !== undefined && { owner: cell.owner ?? null })
})

/** A step for each secret of the rows in the environments. */
export const stepsOf = (
  grid: Grid,
  rows: ReadonlyArray<GridRow>,
  targets: ReadonlyArray<Target>,
  change: DueChange
): ReadonlyArray<DueStep> =>
  targets.flatMap(({ column }) => {
    const index = grid.columns.indexOf(column)
    return rows.flatMap(({ cells, key }) => {
      const cell = cells[index]?.stored ?? null
      return cell === null ? [] : [{ env: column.name, key, change, before: beforeOf(change, cell) }]
    })
  })

/** The steps that take others back. */
export const undoOf = (steps: ReadonlyArray<DueStep>): ReadonlyArray<DueStep> =>
  steps.map((step) => ({ ...step, change: step.before, before: step.change }))

/** The outcome of the steps: each settles alone. */
export interface DueOutcome {
  readonly done: ReadonlyArray<DueStep>
  /** How many wait for votes. */
  readonly requested: number
  readonly failed: ReadonlyArray<{ readonly step: DueStep; readonly failure: Failure }>
}

const isRequested = (result: Either.Either<unknown, Failure>) =>
  Either.isLeft(result) && result.left instanceof ChangeRequested

/** Sets the due dates of many secrets. `note` is called after each. */
export const applySteps = (
  { org, project }: ProjectPlace,
  steps: ReadonlyArray<DueStep>,
  note: () => void
): Effect.Effect<DueOutcome> =>
  Effect.forEach(
    steps,
    (step) => {
      const path = { org_name: org, project_name: project, env_name: step.env, key: step.key }
      return call("dues", (api) => api.update({ path, payload: step.change })).pipe(
        Effect.either,
        Effect.tap(() => Effect.sync(note)),
        Effect.map((result) => ({ step, result }))
      )
    },
    { concurrency: 4 }
  ).pipe(
    Effect.map((all) => ({
      done: all.flatMap(({ result, step }) => (Either.isRight(result) ? [step] : [])),
      requested: all.filter(({ result }) => isRequested(result)).length,
      failed: all.flatMap(({ result, step }) =>
        Either.isLeft(result) && !isRequested(result) ? [{ step, failure: result.left }] : []
      )
    }))
  )
