import type { EnvName } from "@coffer/domain/base/Names"
import { Component } from "preact"
import { StoredText } from "../../kit/StoredText.js"
import { wallMillis } from "../../state/ServerTime.js"
import { Link } from "../../routing/Link.js"
import { cellId } from "./CellId.js"
import { classOf, masked, piecesOf } from "./CellLook.js"
import { type Column, describeCell, type GridCell, type GridRow } from "./Grid.js"
import { GroupCell } from "./PreviewGroup.js"
import { rowHeight } from "./GridSize.js"
import type { EnvTrack, Track } from "./Tracks.js"

interface RowProps {
  readonly row: GridRow
  readonly index: number
  readonly tracks: ReadonlyArray<Track>
  /** The environment that the others are compared with. */
  readonly base: EnvName | null
  /** The index of the column whose values are shown; -1: none. */
  readonly shownIn: number
  /** The value of the key in that column. */
  readonly value: string | undefined
  /** The secret's own page; null if it has none yet. */
  readonly address: string | null
  /** The track of the keyboard; -1 if it is in another row. */
  readonly active: number
  readonly isChosen: boolean
  /** Whether its secret is shown beside the grid. */
  readonly isSelected: boolean
  /** Shows its secret beside the grid. */
  readonly select: (() => void) | undefined
}

interface ContentProps {
  readonly cell: GridCell
  readonly column: Column
  readonly value: string | undefined
}

/** More of a value is on its panel. */
const maxShown = 200

const Content = ({ cell, column, value }: ContentProps) => {
  // A staged value is never shown here.
  const shown = cell.staged?.type === "set" ? undefined : value
  return (
    <>
      {piecesOf(cell, column, wallMillis()).map(([look, text, title]) =>
        look === masked && shown !== undefined ? (
          <span key={look} class="matrix-plain">
            <StoredText text={shown.slice(0, maxShown)} />
          </span>
        ) : (
          <span key={look} class={look} title={title}>
            {text}
          </span>
        )
      )}
    </>
  )
}

interface CellProps {
  readonly track: EnvTrack
  readonly row: GridRow
  readonly base: EnvName | null
  /** The value, if it is shown. */
  readonly value: string | undefined
  readonly position: number
  readonly isActive: boolean
}

const Cell = ({ base, isActive, position, row, value, track: { column, index, name } }: CellProps) => {
  const cell = row.cells[index]
  if (cell === undefined) return null
  const look = classOf(cell, column)
  return (
    <div
      role="gridcell"
      id={cellId(row.key, name)}
      class={isActive ? `${look} active` : look}
      aria-colindex={position + 2}
      data-key={row.key}
      data-env={name}
    >
      <span class="hidden">{`${row.key} in ${name}: ${describeCell(cell, column, base)}${value === undefined ? "" : `, value ${value.slice(0, maxShown)}`}`}</span>
      <span class="matrix-shown" aria-hidden="true">
        <Content cell={cell} column={column} value={value} />
      </span>
    </div>
  )
}

/** A row of the grid. It is drawn again only if something in it has changed. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { active, index, isChosen, isSelected, row, select, shownIn, tracks, value } = this.props
    return (
      next.row !== row ||
      next.index !== index ||
      next.active !== active ||
      next.tracks !== tracks ||
      next.isChosen !== isChosen ||
      next.isSelected !== isSelected ||
      (next.select === undefined) !== (select === undefined) ||
      next.shownIn !== shownIn ||
      next.value !== value
    )
  }

  override render({
    active,
    address,
    base,
    index,
    isChosen,
    isSelected,
    row,
    select,
    shownIn,
    tracks,
    value
  }: RowProps) {
    return (
      <div
        role="row"
        class={`matrix-row${isChosen ? " chosen" : ""}${isSelected ? " selected" : ""}`}
        aria-rowindex={index + 2}
        aria-selected={isChosen}
        style={{ transform: `translateY(${index * rowHeight}px)` }}
      >
        <div
          role="rowheader"
          id={cellId(row.key, null)}
          class={active === 0 ? "matrix-key active" : "matrix-key"}
          aria-colindex={1}
          aria-label={row.key}
          data-key={row.key}
          title={row.key}
        >
          <input
            type="checkbox"
            class="matrix-pick"
            tabIndex={-1}
            aria-label={`Choose ${row.key}`}
            checked={isChosen}
          />
          {address === null ? (
            <span class="key">{row.key}</span>
          ) : (
            <Link to={address} class="key" tabIndex={-1} {...(select !== undefined && { open: select })}>
              {row.key}
            </Link>
          )}
        </div>
        {tracks.map((track, position) =>
          track.type === "env" ? (
            <Cell
              key={track.name}
              track={track}
              row={row}
              base={base}
              value={track.index === shownIn ? value : undefined}
              position={position}
              isActive={active === position + 1}
            />
          ) : (
            <GroupCell key={track.name} group={track} row={row} index={position} isActive={active === position + 1} />
          )
        )}
      </div>
    )
  }
}
