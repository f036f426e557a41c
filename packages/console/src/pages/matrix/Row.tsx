import { dueStateAt } from "@coffer/domain/DueState"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { Component } from "preact"
import { wallMillis } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { type Column, describeCell, type GridCell, type GridRow, leftOf } from "./Grid.js"
import { rowHeight } from "./Size.js"

/** The id of a cell's element; that of the key's own cell without an environment. */
export const cellId = (key: SecretKey, env: EnvName | null): string => `cell:${key}:${env ?? ""}`

interface RowProps {
  readonly row: GridRow
  readonly index: number
  readonly columns: ReadonlyArray<Column>
  /** The secret's own page; null if it has none yet. */
  readonly address: string | null
  /** The column of the keyboard; -1 if it is in another row. */
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

/** A row of the grid. It is drawn again only if something in it has changed. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { active, columns, index, isChosen, row } = this.props
    return (
      next.row !== row ||
      next.index !== index ||
      next.active !== active ||
      next.columns !== columns ||
      next.isChosen !== isChosen
    )
  }

  override render({ active, address, columns, index, isChosen, row }: RowProps) {
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
        {columns.map((column, position) => {
          const cell = row.cells[position]
          if (cell === undefined) return null
          const name = classOf(cell, column)
          const isActive = active === position + 1
          return (
            <div
              key={column.name}
              role="gridcell"
              id={cellId(row.key, column.name)}
              class={isActive ? `${name} active` : name}
              aria-colindex={position + 2}
              data-key={row.key}
              data-env={column.name}
            >
              <span class="hidden">
                {`${row.key} in ${column.name}: ${describeCell(cell, column, leftOf(row, columns, position))}`}
              </span>
              <span class="matrix-shown" aria-hidden="true">
                <Content cell={cell} column={column} />
              </span>
            </div>
          )
        })}
      </div>
    )
  }
}
