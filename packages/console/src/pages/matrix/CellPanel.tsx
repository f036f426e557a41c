import { SecretValue } from "@coffer/domain/SecretValues"
import { useSignal } from "@preact/signals"
import { Effect, Either, Redacted, Schema } from "effect"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { useAct } from "../../kit/Act.js"
import { Check } from "../../kit/Check.js"
import { Problem, sentence } from "../../kit/Problem.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { secretAddress } from "../../routing/Places.js"
import { type Cell, type Model, type Spot, spotAt, stagedIn, stageIn, storedIn, toggleRemoval } from "./Model.js"
import { cellId } from "./Row.js"
import { rowHeight } from "./Size.js"
import { copyValue, hide, readValue, show, shown } from "./Values.js"

interface PanelProps {
  readonly model: Model
  readonly cell: Cell
  readonly mode: "look" | "edit"
  readonly close: () => void
}

const decodeValue = Schema.decodeEither(SecretValue)

/** Where the panel begins: below its cell, within what is in view. It stays where it is while the cell is not shown. */
const usePlacement = (model: Model, { env, key }: Cell) => {
  const panel = useRef<HTMLDivElement>(null)
  const row = model.shown.value.findIndex((one) => one.key === key)
  const column = model.grid.value.columns.findIndex(({ name }) => name === env) + 1
  useLayoutEffect(() => {
    const cell = document.getElementById(cellId(row, column))
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

const Value = ({ model, spot }: { readonly model: Model; readonly spot: Spot }) => {
  const act = useAct()
  const isCopied = useSignal(false)
  const isOpen = useRef(true)
  useEffect(
    () => () => {
      isOpen.current = false
    },
    []
  )
  const { column, row } = spot
  const found = shown.value
  const isShown = found !== null && found.env === column.name && found.key === row.key
  if (storedIn(spot) === null) return null
  return (
    <>
      {isShown && <output class="matrix-value">{found.value === "" ? "(empty)" : found.value}</output>}
      <div class="row">
        <button
          type="button"
          disabled={!column.reveals}
          onClick={() => {
            if (isShown) return hide()
            act.run(readValue(model.place, column.name, row.key), (value) => {
              // The value may arrive after the panel was closed.
              if (isOpen.current) show({ env: column.name, key: row.key, value: Redacted.value(value) })
            })
          }}
        >
          {isShown ? "Hide" : "Reveal"}
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
      </div>
      <Problem failure={act.failure.value} />
    </>
  )
}

interface EditorProps {
  readonly model: Model
  readonly spot: Spot
  /** Whether the environment is gone: the text stays, for the person to copy. */
  readonly isGone: boolean
  readonly close: () => void
}

const Editor = ({ close, isGone, model, spot }: EditorProps) => {
  const { column, row } = spot
  const [stored, staged] = [storedIn(spot), stagedIn(spot)]
  const area = useRef<HTMLTextAreaElement>(null)
  const problem = useSignal<string | null>(null)
  const before = staged?.type === "set" ? staged.kind : stored?.kind
  const refers = useSignal(before === "reference")
  const isEmpty = useSignal(true)
  const storesEmpty = useSignal(false)
  /** The line ends of the text that the editor began with, which a text field replaces by LF. */
  const lineEnd = useRef("\n")
  const act = useAct()
  const begin = (text: string) => {
    const ends = new Set(text.match(/\r\n|\n|\r/g) ?? [])
    const [end = "\n"] = ends
    if (ends.size > 1 || end === "\r") {
      problem.value = `the value has line ends that a browser's text field would change: use coffer secret edit ${row.key}`
      return
    }
    lineEnd.current = end
    if (area.current !== null) area.current.value = text
    isEmpty.value = text === ""
    area.current?.focus()
  }
  useEffect(() => {
    if (staged?.type === "set") begin(Redacted.value(staged.value))
    area.current?.focus()
  }, [])
  const submit = () => {
    if (isGone) return
    const typed = area.current?.value ?? ""
    if (typed === "" && !storesEmpty.value) {
      problem.value = "type the new value first, or choose to store the empty text"
      return
    }
    Either.match(decodeValue(lineEnd.current === "\n" ? typed : typed.replaceAll("\n", lineEnd.current)), {
      onLeft: () => {
        problem.value = "the value is larger than 64 KB, or holds half of a surrogate pair"
      },
      onRight: (value) => {
        stageIn(model, column, [
          [row.key, { type: "set", kind: refers.value ? "reference" : "text", value: Redacted.make(value) }]
        ])
        close()
      }
    })
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label class="hidden" for="matrix-editor">
        New value of {row.key} in {column.name}
      </label>
      <textarea
        id="matrix-editor"
        ref={area}
        rows={3}
        spellcheck={false}
        autocomplete="off"
        placeholder="New value; Shift+Enter for another line"
        onInput={({ currentTarget }) => {
          isEmpty.value = currentTarget.value === ""
          problem.value = null
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
          event.preventDefault()
          submit()
        }}
      />
      <Check
        isChecked={refers.value}
        choose={(isChecked) => {
          refers.value = isChecked
        }}
      >
        Refers to other secrets: <code>{"${KEY}"}</code> or <code>{"${environment:KEY}"}</code>
      </Check>
      {isEmpty.value && (
        <Check
          isChecked={storesEmpty.value}
          choose={(isChecked) => {
            storesEmpty.value = isChecked
            problem.value = null
          }}
        >
          Store the empty text
        </Check>
      )}
      {isGone && <p class="hint bad">{column.name} is gone: your text is kept here until you close this.</p>}
      {problem.value !== null && (
        <p class="hint bad" role="alert">
          {sentence(problem.value)}
        </p>
      )}
      <Problem failure={act.failure.value} />
      <div class="row">
        <button class="primary" disabled={isGone}>
          Stage
        </button>
        {stored !== null && column.reveals && (
          <button
            type="button"
            onClick={() => {
              act.run(readValue(model.place, column.name, row.key, refers.value), (value) => {
                begin(Redacted.value(value))
              })
            }}
          >
            Begin with the current value
          </button>
        )}
      </div>
    </form>
  )
}

/** What can be done with one secret in one environment. */
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
  return (
    <div
      class="matrix-panel"
      role="dialog"
      aria-label={`${row.key} in ${column.name}`}
      ref={panel}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.stopPropagation()
        close()
      }}
    >
      <header>
        <strong class="key">{row.key}</strong> <span class="badge">{column.name}</span>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
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
            {stored.due_at !== undefined && `, due on ${stored.due_at.slice(0, 10)}`}
          </>
        )}
      </p>
      {mode === "edit" && column.canWrite ? (
        <Editor model={model} spot={spot} isGone={found === null} close={close} />
      ) : (
        <>
          <Value model={model} spot={spot} />
          {column.canRead && (
            <div class="row matrix-actions">
              <button
                type="button"
                disabled={!column.canWrite || found === null}
                onClick={() => {
                  model.open.value = { type: "cell", mode: "edit", cell }
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
            <p class="hint">Writing needs a rule with the permission write, and the role developer.</p>
          )}
        </>
      )}
    </div>
  )
}
