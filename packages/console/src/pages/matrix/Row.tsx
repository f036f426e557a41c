import { dueStateAt } from "@coffer/domain/secrets/DueState"
import { Component } from "preact"
import { wallMillis } from "../../state/ServerTime.js"
import { Link } from "../../routing/Link.js"
import { cellId } from "./CellId.js"
import { type Column, describeCell, type GridCell, type GridRow, leftOf } from "./Grid.js"
import { GroupCell } from "./PreviewGroup.js"
import { rowHeight } from "./GridSize.js"
import type { EnvTrack, Track } from "./Tracks.js"

interface RowProps {
  readonly row: GridRow
  readonly index: number
  readonly columns: ReadonlyArray<Column>
  readonly tracks: ReadonlyArray<Track>
  /** The secret's own page; null if it has none yet. */
  readonly address: string | null
  /** The track of the keyboard; -1 if it is in another row. */
  readonly active: number
  readonly isChosen: boolean
}

const classOf = ({ differs, isRequired, staged, stored }: GridCell, { canRead }: Column): string => {
  const names = ["matrix-cell"]
  if (!canRead) names.push("off")
  else if (stored === null) names.push(isRequired ? "missing required" : "missing")
  if (differs) names.push("differs")
  if (staged !== null) names.push(staged.type === "delete" ? "removed" : "staged")
  return names.join(" ")
}

const Content = ({
  cell: { differs, staged, stored },
  column
}: {
  readonly cell: GridCell
  readonly column: Column
}) => {
  if (!column.canRead) return <span class="quiet">·</span>
  if (staged?.type === "set") {
    return (
      <>
        <span class="matrix-dots">••••••</span>
        <span class="matrix-note">{stored === null ? "new" : "edited"}</span>
      </>
    )
  }
  if (stored === null) return <span class="matrix-none">missing</span>
  const due = dueStateAt(stored.due_at, wallMillis())
  return (
    <>
      {differs && <span class="matrix-mark">≠</span>}
      <span class="matrix-dots">••••••</span>
      {stored.kind === "reference" && <span class="matrix-kind">ref</span>}
      {due !== null && <span class={`matrix-due due-${due}`}>{due}</span>}
      <span class="matrix-note">{staged?.type === "delete" ? "delete" : `v${stored.version}`}</span>
    </>
  )
}

interface CellProps {
  readonly track: EnvTrack
  readonly row: GridRow
  readonly columns: ReadonlyArray<Column>
  readonly position: number
  readonly isActive: boolean
}

const Cell = ({ columns, isActive, position, row, track: { column, index, name } }: CellProps) => {
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
      <span class="hidden">{`${row.key} in ${name}: ${describeCell(cell, column, leftOf(row, columns, index))}`}</span>
      <span class="matrix-shown" aria-hidden="true">
        <Content cell={cell} column={column} />
      </span>
    </div>
  )
}

/** A row of the grid. It is drawn again only if something in it has changed. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { active, index, isChosen, row, tracks } = this.props
    return (
      next.row !== row ||
      next.index !== index ||
      next.active !== active ||
      next.tracks !== tracks ||
      next.isChosen !== isChosen
    )
  }

  override render({ active, address, columns, index, isChosen, row, tracks }: RowProps) {
    return (
      <div
        role="row"
        class={isChosen ? "matrix-row chosen" : "matrix-row"}
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
            <Link to={address} class="key" tabIndex={-1}>
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
              columns={columns}
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
