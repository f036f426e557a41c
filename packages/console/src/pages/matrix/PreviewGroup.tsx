import { Clock } from "../../kit/Clock.js"
import { cellId } from "./CellId.js"
import type { GridRow } from "./Grid.js"
import { describeGroup, groupCellOf, groupName, type GroupTrack, previewCount } from "./Tracks.js"

interface HeadProps {
  readonly group: GroupTrack
  /** The index of the track. */
  readonly index: number
  readonly toggle: () => void
}

/** The head of the previews: opens and folds them. */
export const GroupHead = ({ group, index, toggle }: HeadProps) => {
  const { isOpen } = group
  const count = previewCount(group)
  return (
    <div role="columnheader" class={isOpen ? "matrix-group open" : "matrix-group"} aria-colindex={index + 2}>
      <button
        type="button"
        class="plain"
        tabIndex={-1}
        aria-expanded={isOpen}
        title={isOpen ? `Fold the ${count}` : `Open the ${count}`}
        onClick={toggle}
      >
        <span class={isOpen ? "hidden" : undefined}>{count}</span> <Clock />
        {isOpen && <span aria-hidden="true">‹</span>}
      </button>
    </div>
  )
}

interface CellProps {
  readonly group: GroupTrack
  readonly row: GridRow
  readonly index: number
  readonly isActive: boolean
}

/** The cell that sums up a key over all previews. */
export const GroupCell = ({ group, index, isActive, row }: CellProps) => {
  const { readable, staged, stored } = groupCellOf(group, row)
  const isStaged = staged > 0 && !group.isOpen
  return (
    <div
      role="gridcell"
      id={cellId(row.key, groupName)}
      class={`matrix-group${isStaged ? " staged" : ""}${isActive ? " active" : ""}`}
      aria-colindex={index + 2}
      aria-expanded={group.isOpen}
      data-key={row.key}
      data-env={groupName}
    >
      <span class="hidden">{describeGroup(group, row)}</span>
      {!group.isOpen && (
        <span class="matrix-note" aria-hidden="true">
          {isStaged ? `${staged} staged` : readable === 0 ? "·" : `${stored} of ${readable}`}
        </span>
      )}
    </div>
  )
}
