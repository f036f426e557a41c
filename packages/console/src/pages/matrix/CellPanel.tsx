import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { AskAccess } from "../../kit/AskAccess.js"
import { Problem } from "../../kit/Problem.js"
import { useStillOpen } from "../../kit/StillOpen.js"
import { StoredText } from "../../kit/StoredText.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import { cellId } from "./CellId.js"
import { leave } from "../../routing/Unsent.js"
import { ValueEditor } from "./ValueEditor.js"
import { type Cell, type Model, panelId, type Spot, spotAt, stagedIn, storedIn, toggleRemoval } from "./Model.js"
import { rowHeight } from "./GridSize.js"
import { copyValue, hide, readValue, show, shown } from "./GridValues.js"

interface PanelProps {
  readonly model: Model
  readonly cell: Cell
  readonly mode: "look" | "edit"
  readonly close: () => void
}

/** Places the panel below the cell, inside the viewport. It stays where it is while the cell is not shown. */
const usePlacement = (model: Model, { env, key }: Cell) => {
  const panel = useRef<HTMLDivElement>(null)
  const row = model.shown.value.findIndex((one) => one.key === key)
  const column = model.tracks.value.findIndex(({ name }) => name === env)
  useLayoutEffect(() => {
    const cell = document.getElementById(cellId(key, env))
    const element = panel.current
    const scroller = element?.parentElement
    if (cell === null || element === null || !(scroller instanceof HTMLElement)) return
    const left = cell.offsetLeft + cell.clientWidth - element.offsetWidth
    const below = (row + 1) * rowHeight + 44
    const above = row * rowHeight - element.offsetHeight + 36
    const fits = below + element.offsetHeight <= scroller.scrollTop + scroller.clientHeight
    element.style.setProperty("--x", `${Math.max(scroller.scrollLeft + 8, left)}px`)
    element.style.setProperty("--y", `${fits || above < scroller.scrollTop + 40 ? below : above}px`)
  }, [row, column])
  return panel
}

interface StoredValueProps {
  readonly model: Model
  readonly spot: Spot
  /** The placeholder for the value while it is hidden. */
  readonly masked?: ComponentChildren
  /** More buttons. */
  readonly children?: ComponentChildren
}

/** The value of a cell: shown for a while, or copied without showing. */
export const StoredValue = ({ children, masked, model, spot }: StoredValueProps) => {
  const act = useAct()
  const isCopied = useSignal(false)
  const isOpen = useStillOpen()
  const { column, row } = spot
  const found = shown.value
  const isRevealed = found !== null && found.version === undefined && found.env === column.name && found.key === row.key
  if (storedIn(spot) === null) return null
  return (
    <>
      {isRevealed ? (
        <output class="matrix-value">
          <StoredText text={found.value} />
        </output>
      ) : (
        masked
      )}
      <div class="row">
        <button
          type="button"
          disabled={!column.reveals}
          onClick={() => {
            if (isRevealed) return hide()
            act.run(readValue(model.place, column.name, row.key), (value) => {
              // The value may arrive after the panel was closed.
              if (isOpen()) show({ env: column.name, key: row.key, value: Redacted.value(value) })
            })
          }}
        >
          {isRevealed ? "Hide" : "Reveal"}
        </button>
        <button
          type="button"
          disabled={!column.reveals}
          onClick={() => {
            act.run(Effect.flatMap(readValue(model.place, column.name, row.key), copyValue), () => {
              isCopied.value = true
            })
          }}
        >
          {isCopied.value ? "Copied" : "Copy"}
        </button>
        {children}
      </div>
      <Problem failure={act.failure.value} />
    </>
  )
}

/** The panel with the actions for one secret in one environment. */
export const CellPanel = ({ cell, close, mode, model }: PanelProps) => {
  const panel = usePlacement(model, cell)
  const found = spotAt(model, cell)
  const last = useRef(found)
  if (found !== null) last.current = found
  const spot = found ?? last.current
  useEffect(() => hide, [])
  useEffect(() => {
    if (mode === "look") panel.current?.focus()
  }, [mode])
  if (spot === null) return null
  const { column, row } = spot
  const [stored, staged] = [storedIn(spot), stagedIn(spot)]
  const { org, project } = model.place
  /** By Escape and ✕, which may mean that the text is not wanted. */
  const end = () => {
    if (panel.current !== null) leave(panel.current, close)
  }
  return (
    <div
      class="matrix-panel"
      id={panelId}
      role="dialog"
      aria-label={`${row.key} in ${column.name}`}
      ref={panel}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation()
          // Else the same key would close the question that it leads to.
          event.preventDefault()
          end()
        } else if (
          event.key === "e" &&
          mode === "look" &&
          found !== null &&
          column.canWrite &&
          !event.ctrlKey &&
          !event.metaKey
        ) {
          // As in the grid. The editor must not get the letter.
          event.preventDefault()
          model.setOpen({ type: "cell", mode: "edit", cell })
        }
      }}
    >
      <header>
        <strong class="key">{row.key}</strong> <span class="badge">{column.name}</span>
        <button type="button" class="plain" aria-label="Close" onClick={end}>
          ✕
        </button>
      </header>
      <p class="quiet">
        {!column.canRead && "You may not read this environment: an admin or owner grants it by a rule."}
        {column.canRead && stored === null && "There is no secret of this name here."}
        {stored !== null && (
          <>
            {stored.kind === "reference" && <span class="badge">reference</span>} Version {stored.version},{" "}
            <When time={stored.updated_at} /> by {stored.updated_by}
            {stored.due_at !== undefined &&
              `, due on ${stored.due_at.slice(0, 10)}${stored.due_at === stored.turn_at ? " by its rotation" : ""}`}
          </>
        )}
      </p>
      {!column.canRead && <AskAccess org={org} project={project} envs={[column.name]} permission="read" />}
      {mode === "edit" && column.canWrite ? (
        <ValueEditor model={model} spot={spot} isGone={found === null} close={close} />
      ) : (
        <>
          <StoredValue model={model} spot={spot} />
          {column.canRead && (
            <div class="row matrix-actions">
              <button
                type="button"
                disabled={!column.canWrite || found === null}
                onClick={() => {
                  model.setOpen({ type: "cell", mode: "edit", cell })
                }}
              >
                {stored === null ? "Create" : "Edit"}
              </button>
              {(stored !== null || staged !== null) && (
                <button
                  type="button"
                  disabled={!column.canWrite || found === null}
                  onClick={() => {
                    toggleRemoval(model, spot)
                    close()
                  }}
                >
                  {staged === null ? "Delete" : "Take back"}
                </button>
              )}
              {stored !== null && <Link to={secretAddress(org, project, column.name, row.key)}>Versions</Link>}
            </div>
          )}
          {column.canRead && !column.canWrite && (
            <>
              <p class="hint">Writing needs a rule with the permission write, and the role developer.</p>
              <AskAccess org={org} project={project} envs={[column.name]} permission="write" />
            </>
          )}
        </>
      )}
    </div>
  )
}
