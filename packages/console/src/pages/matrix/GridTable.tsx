import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { cellId } from "./CellId.js"
import { CellPanel } from "./CellPanel.js"
import { chooseRange, extendRange, toggleChoice } from "./Chosen.js"
import { ChooseAll } from "./ChosenBar.js"
import { ColumnHead } from "./ColumnHead.js"
import {
  addressOf,
  cellOf,
  isCursorGone,
  type Model,
  moveTo,
  setBase,
  spotOf,
  toggleGroup,
  togglePreviews
} from "./Model.js"
import { move, type Position, rowsInView } from "./Movement.js"
import { GroupHead } from "./PreviewGroup.js"
import { Row } from "./Row.js"
import { isWide, select, selectedKey } from "./Selected.js"
import { useAct } from "../../kit/Act.js"
import { useStillOpen } from "../../kit/StillOpen.js"
import { readColumn, showColumn, ValuesBar, valuesIn } from "./ColumnValues.js"
import { GroupLine } from "./GroupLine.js"
import { isGroup, type Sort, sorts } from "./Groups.js"
import { setQuery } from "../../routing/Router.js"
import { pressInGrid } from "./Shortcuts.js"
import { headHeight, rowHeight } from "./GridSize.js"
import { groupName, widthsOf } from "./Tracks.js"

/** The position of the cell that was clicked. The element names it: rows may have moved since it was drawn. */
const positionOf = ({ shown, tracks }: Model, target: EventTarget | null): Position | null => {
  const cell = target instanceof Element ? target.closest("[data-key]") : null
  if (!(cell instanceof HTMLElement)) return null
  const { env, key } = cell.dataset
  const row = shown.peek().findIndex((one) => one.key === key)
  const column = env === undefined ? 0 : tracks.peek().findIndex(({ name }) => name === env) + 1
  return row === -1 || (env !== undefined && column === 0) ? null : { row, column }
}

const isOn = (event: MouseEvent, selector: string): boolean =>
  event.target instanceof Element && event.target.closest(selector) !== null

const sortWords: Readonly<Record<Sort, string>> = { name: "name", changed: "last changed", due: "due first" }

/** The order of the rows, which the address has. */
const SortBy = ({ model }: { readonly model: Model }) => (
  <select
    class="matrix-sort"
    aria-label="Sort keys"
    value={model.sort.value}
    onChange={({ currentTarget: { value } }) => {
      setQuery("sort", value === "name" ? null : value)
    }}
  >
    {sorts.map((sort) => (
      <option key={sort} value={sort}>
        {sortWords[sort]}
      </option>
    ))}
  </select>
)

/** Whether a click chooses rows: on their boxes, or with Shift or Ctrl, which opens a link in another tab. */
const isChoice = (event: MouseEvent): boolean =>
  isOn(event, ".matrix-pick") || ((event.shiftKey || event.ctrlKey || event.metaKey) && !isOn(event, "a"))

/** The grid: only the rows in view are drawn. */
export const GridTable = ({ model }: { readonly model: Model }) => {
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const view = useSignal({ top: 0, height: 600 })
  const { base, columns } = model.grid.value
  const tracks = model.tracks.value
  const rows = model.shown.value
  const { column, row } = model.position.value
  const open = model.open.value
  const chosen = model.chosen.value
  const isGone = isCursorGone(model)
  const activeKey = isGone ? undefined : rows[row]?.key
  const selected = isWide.value ? selectedKey.value : null
  const activeTrack = tracks[column - 1]?.name ?? null

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const watcher = new ResizeObserver(() => {
      view.value = { ...view.peek(), height: element.clientHeight }
    })
    watcher.observe(element)
    return () => {
      watcher.disconnect()
    }
  }, [])

  // From the first row on, the cursor has a name.
  useLayoutEffect(() => {
    if (model.cursor.peek().key === null && rows.length > 0) moveTo(model, model.position.peek())
  }, [rows.length])

  const reveal = (to: Position) => {
    const element = scroller.current
    if (element === null) return
    const above = to.row * rowHeight
    const room = element.clientHeight - headHeight
    if (above < element.scrollTop) element.scrollTop = above
    else if (above + rowHeight > element.scrollTop + room) element.scrollTop = above + rowHeight - room
    requestAnimationFrame(() => {
      const { env, key } = model.cursor.peek()
      if (key === null) return
      document.getElementById(cellId(key, env))?.scrollIntoView({ block: "nearest", inline: "nearest" })
    })
  }

  const go = (to: Position) => {
    moveTo(model, to)
    reveal(to)
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== body.current) return
    const page = Math.max(1, Math.floor(view.peek().height / rowHeight) - 2)
    const to = move(model.position.peek(), event, { rows: rows.length, columns: tracks.length + 1, page })
    if (to !== null) {
      event.preventDefault()
      if (event.shiftKey) extendRange(model, model.position.peek().row, to.row)
      go(to)
    } else if (pressInGrid(model, event)) event.preventDefault()
  }

  const onClick = (event: MouseEvent) => {
    const to = positionOf(model, event.target)
    if (to === null) return
    if (isChoice(event)) {
      if (event.shiftKey) chooseRange(model, model.position.peek().row, to.row)
      else toggleChoice(model, to.row)
      // The browser has turned the box, and a range leaves its row chosen.
      const key = model.shown.peek()[to.row]?.key
      if (event.target instanceof HTMLInputElement && key !== undefined) {
        event.target.checked = new Set<string>(model.chosen.peek()).has(key)
      }
      moveTo(model, to)
      body.current?.focus({ preventScroll: true })
      return
    }
    const isSame = !isGone && to.row === row && to.column === column
    moveTo(model, to)
    body.current?.focus({ preventScroll: true })
    const line = model.shown.peek()[to.row]
    if (line !== undefined && isGroup(line)) return toggleGroup(line.prefix)
    if (tracks[to.column - 1]?.name === groupName) return togglePreviews(model)
    const spot = spotOf(model)
    model.setOpen(
      spot !== null && !(isSame && open !== null) ? { type: "cell", mode: "look", cell: cellOf(spot) } : null
    )
  }

  const toggle = () => {
    togglePreviews(model)
    body.current?.focus({ preventScroll: true })
  }

  const act = useAct()
  const isOpen = useStillOpen()
  const values = valuesIn(model.grid.value)
  const { first, last } = rowsInView(view.value.top, view.value.height, rowHeight, rows.length)
  return (
    <>
      <ValuesBar act={act} values={values?.of ?? null} />
      <div
        class="matrix-scroller"
        ref={scroller}
        style={{ "--tracks": widthsOf(tracks) }}
        onScroll={({ currentTarget }) => {
          const next = rowsInView(currentTarget.scrollTop, view.peek().height, rowHeight, rows.length)
          if (next.first !== first || next.last !== last) view.value = { ...view.peek(), top: currentTarget.scrollTop }
        }}
      >
        <div
          role="grid"
          class="matrix-grid"
          ref={body}
          tabIndex={0}
          aria-multiselectable={true}
          aria-label={`Secrets of ${model.place.project}`}
          aria-rowcount={rows.length + 1}
          aria-colcount={tracks.length + 1}
          aria-activedescendant={
            activeKey !== undefined && row >= first && row < last ? cellId(activeKey, activeTrack) : undefined
          }
          onFocus={() => {
            if (isCursorGone(model)) moveTo(model, model.position.peek())
          }}
          onKeyDown={onKeyDown}
          onMouseDown={(event) => {
            // Would select text.
            if (event.shiftKey) event.preventDefault()
          }}
          onClick={onClick}
        >
          <div role="row" class="matrix-row matrix-head" aria-rowindex={1}>
            <div role="columnheader" class="matrix-key" aria-colindex={1}>
              <ChooseAll model={model} /> Key{" "}
              <span class="quiet">{model.filtered.value.length.toLocaleString("en")}</span>
              <SortBy model={model} />
            </div>
            {tracks.map((track, index) =>
              track.type === "env" ? (
                <ColumnHead
                  key={track.name}
                  column={track.column}
                  index={index}
                  isBase={track.index === base}
                  compare={() => {
                    setBase(model, track.index === base ? null : track.name)
                  }}
                  show={() => {
                    act.run(readColumn(model.place, track.column), (found) => {
                      // The values may arrive after the page was left.
                      if (isOpen()) showColumn(found)
                    })
                  }}
                />
              ) : (
                <GroupHead key={track.name} group={track} index={index} toggle={toggle} />
              )
            )}
          </div>
          <div class="matrix-body" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
            {rows.slice(first, last).map((one, index) =>
              isGroup(one) ? (
                <GroupLine
                  key={one.key}
                  group={one}
                  index={first + index}
                  tracks={tracks}
                  active={one.key === activeKey ? column : -1}
                />
              ) : (
                <Row
                  key={one.key}
                  row={one}
                  index={first + index}
                  base={columns[base]?.name ?? null}
                  shownIn={values?.index ?? -1}
                  value={values?.of.values.get(one.key)}
                  tracks={tracks}
                  address={addressOf(model, one)}
                  isChosen={chosen.has(one.key)}
                  isSelected={one.key === selected}
                  select={
                    isWide.value
                      ? () => {
                          select(one.key)
                        }
                      : undefined
                  }
                  active={one.key === activeKey ? column : -1}
                />
              )
            )}
          </div>
        </div>
        {open?.type === "cell" && (
          <CellPanel
            key={`${open.cell.key}/${open.cell.env}`}
            model={model}
            cell={open.cell}
            mode={open.mode}
            close={() => {
              model.setOpen(null)
              body.current?.focus({ preventScroll: true })
            }}
          />
        )}
      </div>
    </>
  )
}
