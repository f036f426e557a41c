import type { Matrix, MatrixCell } from "@coffer/domain/secrets/Matrix"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { ends } from "../../client/Ending.js"
import { secretAddress } from "../../routing/Places.js"
import { query, setQueries, setQuery } from "../../routing/Router.js"
import type { Sent } from "../../staging/Writes.js"
import { keepAndLeave } from "../../routing/Unsent.js"
import { type Base, type Change, stage, type Staged, unstage } from "../../staging/Staged.js"
import { type Staging, stagingOf } from "../../staging/Staging.js"
import type { PlaceAt } from "../PageProps.js"
import {
  type Column,
  type Filter,
  filterRows,
  filterWords,
  type Grid,
  gridOf,
  type GridRow,
  rowOf,
  type Requirements
} from "./Grid.js"
import { groupRows, isGroup, type ShownRow, type Sort, sortRows, sorts } from "./Groups.js"
import type { Position } from "./Movement.js"
import { leaveSide, selectedKey } from "./Selected.js"
import { openedOf } from "./OpenedPreviews.js"
import { type Track, type TrackName, tracksOf } from "./Tracks.js"

/** A cell by its names, which stay when the matrix is read again. */
export interface Cell {
  readonly key: SecretKey
  readonly env: EnvName
}

/** Where the keyboard is, by names; null for the column of keys, and before a row was chosen. */
export interface Cursor {
  readonly key: ShownRow["key"] | null
  readonly env: TrackName | null
  /** Where that was last: the place of the keyboard when the row or the column is gone. */
  readonly last: Position
}

/** The panel or dialog that is open over the grid. */
export type Open =
  | { readonly type: "cell"; readonly mode: "look" | "edit"; readonly cell: Cell }
  | { readonly type: "new"; readonly key: string }
  | { readonly type: "import"; readonly env: EnvName | null; readonly text: string; readonly file: string }
  | { readonly type: "review" }
  | { readonly type: "bulk"; readonly act: "delete" | "copy" | "due" | "export" | "exportAll" }

/** The state of the page. */
export interface Model {
  readonly place: PlaceAt<"project">
  readonly staging: Staging
  readonly matrix: Signal<Matrix | null>
  readonly declared: Signal<Requirements>
  readonly grid: ReadonlySignal<Grid>
  /** Whether a person has opened the previews. */
  readonly opened: Signal<boolean>
  readonly tracks: ReadonlySignal<ReadonlyArray<Track>>
  readonly filter: Signal<Filter>
  readonly sort: ReadonlySignal<Sort>
  /** The rows that the filter lets through, also those of folded groups. */
  readonly filtered: ReadonlySignal<ReadonlyArray<GridRow>>
  /** The rows as they are shown. While nothing is filtered and they are sorted by name, they are in groups. */
  readonly shown: ReadonlySignal<ReadonlyArray<ShownRow>>
  readonly cursor: Signal<Cursor>
  /** Where the cursor is in what is shown now. */
  readonly position: ReadonlySignal<Position>
  /** The keys of the rows that were chosen, also of those that the filter hides. */
  readonly chosen: Signal<ReadonlySet<SecretKey>>
  /** The row from which the next range of rows is chosen. */
  readonly anchor: Signal<ShownRow["key"] | null>
  readonly open: ReadonlySignal<Open | null>
  /** Opens something else. What was typed for a cell is staged first. */
  readonly setOpen: (next: Open | null) => void
  readonly sent: Signal<ReadonlyArray<Sent>>
}

/** The id of the element of an open cell. */
export const panelId = "matrix-panel"

const emptyGrid: Grid = { columns: [], rows: [], base: -1 }

const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value))

/** Returns the position of a cursor, or where it was last if its row or column is gone. */
export const positionOf = (
  { env, key, last }: Cursor,
  rows: ReadonlyArray<ShownRow>,
  tracks: ReadonlyArray<Track>
): Position => {
  const row = key === null ? -1 : rows.findIndex((one) => one.key === key)
  const column = env === null ? -1 : tracks.findIndex(({ name }) => name === env)
  return {
    row: row === -1 ? within(last.row, rows.length) : row,
    column: column === -1 ? within(last.column, tracks.length + 1) : column + 1
  }
}

/** The filter that an address names. */
const filterOf = (parameters: URLSearchParams): Filter => ({
  text: parameters.get("filter") ?? "",
  only: filterWords.find((word) => word === parameters.get("show")) ?? null
})

export const makeModel = (place: PlaceAt<"project">): Model => {
  const staging = stagingOf(place.org, place.project)
  const matrix = signal<Matrix | null>(null)
  const declared = signal<Requirements>(new Map())
  const filter = signal(filterOf(query.peek()))
  const opened = openedOf(place.org, place.project)
  // An address that marks one of them opens them too.
  const areOpen = computed(
    () =>
      opened.value ||
      (matrix.value?.environments.some((one) => ends(one) && one.name === query.value.get("env")) ?? false)
  )
  // The filter of what differs needs a base: its address may name none.
  const base = computed(() => query.value.get("base") ?? (filter.value.only === "different" ? true : null))
  const grid = computed(() =>
    matrix.value === null
      ? emptyGrid
      : gridOf(matrix.value, staging.staged.value, {
          declared: declared.value,
          areFolded: !areOpen.value,
          base: base.value
        })
  )
  const tracks = computed(() => tracksOf(grid.value.columns, areOpen.value))
  const sort = computed((): Sort => {
    const wanted = query.value.get("sort")
    return sorts.find((one) => one === wanted) ?? "name"
  })
  const filtered = computed(() => sortRows(filterRows(grid.value.rows, filter.value), sort.value))
  const folded = computed(() => query.value.get("fold") ?? "")
  const shown = computed(() =>
    sort.value === "name" && filter.value.only === null && filter.value.text === ""
      ? groupRows(filtered.value, new Set(folded.value.split(",")), selectedKey.value)
      : filtered.value
  )
  const cursor = signal<Cursor>({ key: null, env: null, last: { row: 0, column: 1 } })
  const open = signal<Open | null>(null)
  return {
    place,
    staging,
    matrix,
    declared,
    grid,
    opened,
    tracks,
    filter,
    sort,
    filtered,
    shown,
    cursor,
    position: computed(() => positionOf(cursor.value, shown.value, tracks.value)),
    chosen: signal<ReadonlySet<SecretKey>>(new Set()),
    anchor: signal<ShownRow["key"] | null>(null),
    open,
    setOpen: (next) => {
      const panel = open.peek()?.type === "cell" ? document.getElementById(panelId) : null
      const go = () => {
        open.value = next
      }
      if (panel !== null) keepAndLeave(panel, go)
      // The panel beside the grid gives its editor up to that of a cell.
      else if (next?.type === "cell") leaveSide(go)
      else go()
    },
    sent: signal<ReadonlyArray<Sent>>([])
  }
}

/** Filters the rows. The address has the filter, so that it can be sent to somebody. */
export const setFilter = ({ filter }: Model, next: Filter): void => {
  filter.value = next
  setQueries({ filter: next.text, show: next.only })
}

/** Compares the columns with another base; null: with none. The address has it. */
export const setBase = (model: Model, base: string | null): void => {
  batch(() => {
    if (base === null && model.filter.peek().only === "different") {
      setFilter(model, { ...model.filter.peek(), only: null })
    }
    setQuery("base", base)
  })
}

/** Folds a group of keys, or opens it. The address has the folded ones. */
export const toggleGroup = (prefix: string): void => {
  const folded = new Set((query.peek().get("fold") ?? "").split(",").filter((one) => one !== ""))
  if (!folded.delete(prefix)) folded.add(prefix)
  setQuery("fold", [...folded].join(","))
}

/** Moves the cursor to a position, and keeps its names. */
export const moveTo = (model: Model, to: Position): void => {
  model.cursor.value = {
    key: model.shown.peek()[to.row]?.key ?? null,
    env: model.tracks.peek()[to.column - 1]?.name ?? null,
    last: to
  }
}

/** A row and a column of the grid. */
export interface Spot {
  readonly row: GridRow
  readonly column: Column
  readonly index: number
}

/** The cell of these names. Its row is empty if the key has no secret any more; null if the environment is gone. */
export const spotAt = (model: Model, { env, key }: Cell): Spot | null => {
  const { columns, rows } = model.grid.value
  const index = columns.findIndex(({ name }) => name === env)
  const column = columns[index]
  if (column === undefined) return null
  const context = {
    columns,
    staged: model.staging.staged.value,
    declared: new Map(),
    counted: columns.length,
    base: -1
  }
  const row = rows.find((one) => one.key === key) ?? rowOf(key, [], context)
  return { row, column, index }
}

/** Whether the row or the column of the cursor is not shown any more. Keys must not act on what took its place. */
export const isCursorGone = ({ cursor, position, shown, tracks }: Model): boolean => {
  const { env, key } = cursor.value
  const { column, row } = position.value
  return shown.value[row]?.key !== key || (env !== null && tracks.value[column - 1]?.name !== env)
}

/** The cell of the cursor; null on a key or a group, and if the cursor is gone. */
export const spotOf = (model: Model): Spot | null => {
  const { column: at, row: line } = model.position.value
  const row = model.shown.value[line]
  const track = model.tracks.value[at - 1]
  if (row === undefined || isGroup(row) || track?.type !== "env" || isCursorGone(model)) return null
  return { row, column: track.column, index: track.index }
}

/** Opens the previews, or folds them into one column. */
export const togglePreviews = (model: Model): void => {
  const { grid, open, opened, setOpen, tracks } = model
  const isOpen = tracks.peek().some((track) => track.type === "group" && track.isOpen)
  const marked = query.peek().get("env")
  batch(() => {
    if (isOpen && grid.peek().columns.some((column) => ends(column) && column.name === marked)) setQuery("env", null)
    if (open.peek()?.type === "cell") setOpen(null)
    opened.value = !isOpen
  })
}

export const cellOf = ({ column, row }: Spot): Cell => ({ key: row.key, env: column.name })

/** The page of a row's secret, in the first environment that has one; null if none has. */
export const addressOf = ({ grid, place: { org, project } }: Model, row: GridRow): string | null => {
  const column = grid.value.columns.find((_, index) => (row.cells[index]?.stored ?? null) !== null)
  return column === undefined ? null : secretAddress(org, project, column.name, row.key)
}

export const storedIn = ({ index, row }: Spot): MatrixCell | null => row.cells[index]?.stored ?? null

export const stagedIn = ({ index, row }: Spot): Change | null => row.cells[index]?.staged ?? null

/** Returns the staged changes in the order of the columns. Environments that are gone come last. */
export const inOrder = ({ grid }: Model, staged: Staged): Staged => {
  const names = grid.value.columns.map(({ name }) => name)
  const found = names.flatMap((name) => {
    const changes = staged.get(name)
    return changes === undefined ? [] : [[name, changes] as const]
  })
  return new Map([...found, ...staged])
}

/** The state of an environment; null if the caller may not read it. */
export const baseOf = ({ etag, revision }: Column): Base | null =>
  etag === null || revision === null ? null : { etag, revision }

/** Stages changes of an environment, made for the state that `base` names. */
export const stageIn = (
  { sent, staging }: Model,
  column: Column,
  changes: Iterable<readonly [SecretKey, Change]>,
  base = baseOf(column)
): void => {
  if (base === null || !column.canWrite) return
  batch(() => {
    staging.change((staged) => stage(staged, column.name, base, changes))
    sent.value = []
  })
}

/** The changes of one environment, and what its history shall say of them. */
interface EnvChanges {
  readonly column: Column
  readonly changes: ReadonlyArray<readonly [SecretKey, Change]>
  readonly note?: string
}

/** Stages changes of several environments, which are taken back as one. */
export const stageAll = ({ sent, staging }: Model, all: ReadonlyArray<EnvChanges>): void => {
  batch(() => {
    staging.change((staged) =>
      all.reduce((before, { changes, column, note }) => {
        const base = baseOf(column)
        if (base === null || !column.canWrite || changes.length === 0) return before
        return stage(before, column.name, base, changes, note)
      }, staged)
    )
    sent.value = []
  })
}

/** Stages removals in several environments, which are taken back as one. */
export const stageRemovals = (
  model: Model,
  removals: ReadonlyArray<{ readonly column: Column; readonly keys: ReadonlyArray<SecretKey> }>
): void => {
  stageAll(
    model,
    removals.map(({ column, keys }) => ({ column, changes: keys.map((key) => [key, { type: "delete" }] as const) }))
  )
}

/** Stages the removal of a secret, or takes back what is staged for it. */
export const toggleRemoval = (model: Model, spot: Spot): void => {
  const { column, row } = spot
  if (stagedIn(spot) !== null) model.staging.change((staged) => unstage(staged, column.name, row.key))
  else if (storedIn(spot) !== null) stageIn(model, column, [[row.key, { type: "delete" }]])
}
