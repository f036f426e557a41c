import { useEffect, useRef } from "preact/hooks"
import { projectAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { pickForPromotion } from "../../staging/Picked.js"
import { chooseNone, chooseShown, chosenRows } from "./Chosen.js"
import type { Model, Open } from "./Model.js"

/** Chooses every row that is shown, or none. */
export const ChooseAll = ({ model }: { readonly model: Model }) => {
  const box = useRef<HTMLInputElement>(null)
  const rows = model.filtered.value
  const count = rows.filter(({ key }) => model.chosen.value.has(key)).length
  const isAll = count > 0 && count === rows.length
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = count > 0 && !isAll
  }, [count, isAll])
  return (
    <input
      ref={box}
      type="checkbox"
      tabIndex={-1}
      aria-label="Choose all keys that are shown"
      checked={isAll}
      onChange={() => {
        if (isAll) chooseNone(model)
        else chooseShown(model)
        box.current?.closest<HTMLElement>("[role=grid]")?.focus({ preventScroll: true })
      }}
    />
  )
}

type Act = Extract<Open, { readonly type: "bulk" }>["act"]

/** How many keys are chosen, and what can be done with them. */
export const ChosenBar = ({ model }: { readonly model: Model }) => {
  const rows = chosenRows(model)
  if (rows.length === 0) return null
  const shown = new Set<string>(model.shown.value.map(({ key }) => key))
  const hidden = rows.filter(({ key }) => !shown.has(key)).length
  const { columns } = model.grid.value
  const canWrite = columns.some((column) => column.canWrite)
  const why = canWrite ? undefined : "needs a rule with the permission write, and the role developer"
  const canExport = columns.some(({ reveals }) => reveals)
  const open = (act: Act) => () => {
    model.setOpen({ type: "bulk", act })
  }
  const promote = () => {
    const { org, project } = model.place
    pickForPromotion(
      model.place,
      rows.map(({ key }) => key)
    )
    navigate(projectAddress(org, project, "promote"))
  }
  const button = (word: string, isAble: boolean, act: () => void) => (
    <button type="button" disabled={!isAble} title={isAble ? undefined : why} onClick={act}>
      {word}
    </button>
  )
  return (
    <div class="action-bar chosen" role="group" aria-label="Chosen keys">
      <span role="status">
        <strong>
          {rows.length.toLocaleString("en")} {rows.length === 1 ? "key" : "keys"} chosen
        </strong>
        {hidden > 0 && <span class="quiet"> {hidden.toLocaleString("en")} not shown</span>}
      </span>
      <span class="space" />
      {button("Delete", canWrite, open("delete"))}
      {button("Copy to", canWrite && columns.length > 1, open("copy"))}
      {button("Promote", canWrite && columns.length > 1, promote)}
      {button("Set due date", canWrite, open("due"))}
      {button("Export", canExport, open("export"))}
      <button
        type="button"
        class="plain"
        onClick={() => {
          chooseNone(model)
        }}
      >
        Choose none
      </button>
    </div>
  )
}
