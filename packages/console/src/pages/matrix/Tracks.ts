import type { EnvName } from "@coffer/domain/base/Names"
import { ends } from "../../client/Ending.js"
import type { Column, GridRow } from "./Grid.js"

/** The name of the group of previews among those of environments, of which none has this name. */
export const groupName = "*"
export type TrackName = EnvName | typeof groupName

/** An environment as it is shown. */
export interface EnvTrack {
  readonly type: "env"
  readonly name: EnvName
  readonly column: Column
  /** The index of its column. */
  readonly index: number
}

/** The previews, folded into one narrow column. Opened, it stands before them, and folds them again. */
export interface GroupTrack {
  readonly type: "group"
  readonly name: typeof groupName
  readonly isOpen: boolean
  readonly previews: ReadonlyArray<EnvTrack>
}

export type Track = EnvTrack | GroupTrack

/** Returns the visible tracks beside the keys, from left to right. */
export const tracksOf = (columns: ReadonlyArray<Column>, isOpen: boolean): ReadonlyArray<Track> => {
  const all = columns.map((column, index): EnvTrack => ({ type: "env", name: column.name, column, index }))
  const previews = all.filter(({ column }) => ends(column))
  if (previews.length === 0) return all
  const lasting = all.filter(({ column }) => !ends(column))
  return [...lasting, { type: "group", name: groupName, isOpen, previews }, ...(isOpen ? previews : [])]
}

/** The widths of the tracks, as CSS has them. */
export const widthsOf = (tracks: ReadonlyArray<Track>): string =>
  tracks
    .map((track) => (track.type === "env" ? "var(--cell)" : track.isOpen ? "var(--opened)" : "var(--group)"))
    .join(" ")

export const previewCount = ({ previews }: GroupTrack): string =>
  `${previews.length} ${previews.length === 1 ? "preview" : "previews"}`

/** Counts the readable previews, and those in which the key is stored or staged. */
export const groupCellOf = ({ previews }: GroupTrack, { cells }: GridRow) => {
  const readable = previews.filter(({ column }) => column.canRead)
  return {
    readable: readable.length,
    stored: readable.filter(({ index }) => (cells[index]?.stored ?? null) !== null).length,
    staged: previews.filter(({ index }) => (cells[index]?.staged ?? null) !== null).length
  }
}

/** How many keys of some rows an environment has, if it is not all of them. */
export const countIn = (rows: ReadonlyArray<GridRow>, track: Track): string => {
  if (track.type === "group" || !track.column.canRead) return ""
  const stored = rows.filter(({ cells }) => (cells[track.index]?.stored ?? null) !== null).length
  return stored === rows.length ? "" : `${stored.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`
}

/** The rights that are missing in an environment, in words; null if none is. */
export const rightsOf = ({ canRead, canWrite, reveals }: Column): string | null => {
  if (!canRead) return "no access"
  if (!canWrite) return "read only"
  return reveals ? null : "no values"
}

/** The state of an environment's targets, if somebody else changed what was pushed there; null otherwise. */
export const driftOf = ({ targets = "" }: Pick<Column, "targets">): string | null =>
  targets.endsWith(" there") ? targets : null

/** Describes the cell of the group for screen readers. */
export const describeGroup = (group: GroupTrack, row: GridRow): string => {
  const { readable, staged, stored } = groupCellOf(group, row)
  const parts = [
    readable === 0 ? "not readable for you" : stored === readable ? "in all" : `in ${stored} of ${readable}`,
    ...(staged === 0 ? [] : [`staged in ${staged}`]),
    group.isOpen ? "open" : "folded"
  ]
  return `${row.key} in ${previewCount(group)}: ${parts.join(", ")}`
}
