import type { Matrix, MatrixCell } from "@coffer/domain/Matrix"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { secretAddress } from "../../routing/Places.js"
import type { Sent } from "../../staging/Sending.js"
import { type Change, stage, unstage } from "../../staging/Staged.js"
import { type Staging, stagingOf } from "../../staging/Staging.js"
import type { PlaceAt } from "../Pages.js"
import {
  type Column,
  type Filter,
  filterRows,
  type Grid,
  gridOf,
  type GridRow,
  noFilter,
  type Requirements
} from "./Grid.js"
import type { Position } from "./Movement.js"

/** What is open over the grid. */
export type Open =
  | { readonly type: "cell"; readonly mode: "look" | "edit" }
  | { readonly type: "new"; readonly key: string }
  | { readonly type: "import"; readonly env: EnvName | null; readonly text: string; readonly file: string }
  | { readonly type: "review" }

/** The state of the page. */
export interface Model {
  readonly place: PlaceAt<"project">
  readonly staging: Staging
  readonly matrix: Signal<Matrix | null>
  readonly declared: Signal<Requirements>
  readonly grid: ReadonlySignal<Grid>
  readonly filter: Signal<Filter>
  readonly shown: ReadonlySignal<ReadonlyArray<GridRow>>
  readonly position: Signal<Position>
  readonly open: Signal<Open | null>
  readonly sent: Signal<ReadonlyArray<Sent>>
}

const emptyGrid: Grid = { columns: [], rows: [] }

export const makeModel = (place: PlaceAt<"project">): Model => {
  const staging = stagingOf(place.org, place.project)
  const matrix = signal<Matrix | null>(null)
  const declared = signal<Requirements>(new Map())
  const filter = signal(noFilter)
  const grid = computed(() =>
    matrix.value === null ? emptyGrid : gridOf(matrix.value, staging.staged.value, declared.value)
  )
  return {
    place,
    staging,
    matrix,
    declared,
    grid,
    filter,
    shown: computed(() => filterRows(grid.value.rows, filter.value)),
    position: signal({ row: 0, column: 1 }),
    open: signal<Open | null>(null),
    sent: signal<ReadonlyArray<Sent>>([])
  }
}

/** A row and a column of the grid. */
export interface Spot {
  readonly row: GridRow
  readonly column: Column
  readonly index: number
}

/** The secret at the position of the keyboard; null on a key, or without rows. */
export const spotOf = (model: Model): Spot | null => {
  const { column: at, row: line } = model.position.value
  const row = model.shown.value[line]
  const column = model.grid.value.columns[at - 1]
  return row === undefined || column === undefined ? null : { row, column, index: at - 1 }
}

/** The page of a row's secret, in the first environment that has one; null if none has. */
export const addressOf = ({ grid, place: { org, project } }: Model, row: GridRow): string | null => {
  const column = grid.value.columns.find((_, index) => (row.cells[index]?.stored ?? null) !== null)
  return column === undefined ? null : secretAddress(org, project, column.name, row.key)
}

export const storedIn = ({ index, row }: Spot): MatrixCell | null => row.cells[index]?.stored ?? null

export const stagedIn = ({ index, row }: Spot): Change | null => row.cells[index]?.staged ?? null

/** Stages changes of an environment. */
export const stageIn = (
  { sent, staging }: Model,
  column: Column,
  changes: Iterable<readonly [SecretKey, Change]>
): void => {
  const { etag, name, revision } = column
  if (etag === null || revision === null || !column.canWrite) return
  batch(() => {
    staging.change((staged) => stage(staged, name, { etag, revision }, changes))
    sent.value = []
  })
}

/** Stages the removal of a secret, or takes back what is staged for it. */
export const toggleRemoval = (model: Model, spot: Spot): void => {
  const { column, row } = spot
  if (stagedIn(spot) !== null) model.staging.change((staged) => unstage(staged, column.name, row.key))
  else if (storedIn(spot) !== null) stageIn(model, column, [[row.key, { type: "delete" }]])
}
