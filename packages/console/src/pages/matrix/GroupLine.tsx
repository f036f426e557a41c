import { cellId } from "./CellId.js"
import type { GroupRow } from "./Groups.js"
import { rowHeight } from "./GridSize.js"
import { countIn, type Track } from "./Tracks.js"

interface LineProps {
  readonly group: GroupRow
  readonly index: number
  readonly tracks: ReadonlyArray<Track>
  /** The track of the keyboard; -1 if it is in another row. */
  readonly active: number
}

/** The head of the keys with one prefix, which folds them. */
export const GroupLine = ({ active, group, index, tracks }: LineProps) => {
  const { isOpen, key, prefix, rows } = group
  const count = `${rows.length.toLocaleString("en")} keys`
  return (
    <div
      role="row"
      class="matrix-row matrix-line"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
    >
      <div
        role="rowheader"
        id={cellId(key, null)}
        class={active === 0 ? "matrix-key active" : "matrix-key"}
        aria-colindex={1}
        aria-expanded={isOpen}
        aria-label={`${prefix}, ${count}`}
        data-key={key}
      >
        <span class="matrix-fold" aria-hidden="true">
          ▾
        </span>
        <span class="key">{prefix}</span> <span class="quiet">{rows.length.toLocaleString("en")}</span>
      </div>
      {tracks.map((track, position) => (
        <div
          key={track.name}
          role="gridcell"
          id={cellId(key, track.name)}
          class={active === position + 1 ? "matrix-cell active" : "matrix-cell"}
          aria-colindex={position + 2}
          data-key={key}
          data-env={track.name}
        >
          <span class="matrix-note">{countIn(rows, track)}</span>
        </div>
      ))}
    </div>
  )
}
