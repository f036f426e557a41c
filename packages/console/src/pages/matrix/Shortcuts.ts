import { navigate } from "../../routing/Router.js"
import { chooseNone, chooseShown, toggleChoice } from "./Chosen.js"
import {
  addressOf,
  cellOf,
  isCursorGone,
  type Model,
  spotOf,
  toggleGroup,
  togglePreviews,
  toggleRemoval
} from "./Model.js"
import { isGroup } from "./Groups.js"
import { isWide, select } from "./Selected.js"
import { groupName } from "./Tracks.js"

/** Handles the keys of the grid other than those that move. Returns true if the key did something. */
export const pressInGrid = (model: Model, event: KeyboardEvent): boolean => {
  const { ctrlKey, key, metaKey, shiftKey } = event
  if (key === "z" && (ctrlKey || metaKey)) {
    model.staging.undo()
    return true
  }
  if (key === "a" && (ctrlKey || metaKey)) {
    chooseShown(model)
    return true
  }
  if (key === "Escape" && model.chosen.value.size > 0) {
    chooseNone(model)
    return true
  }
  if (ctrlKey || metaKey || isCursorGone(model)) return false
  const line = model.position.value.row
  const row = model.shown.value[line]
  const isLine = row !== undefined && isGroup(row)
  if (key === " " && (shiftKey || (model.position.value.column === 0 && !isLine))) {
    toggleChoice(model, line)
    return true
  }
  if (isLine) {
    if (key !== "Enter" && key !== " ") return false
    toggleGroup(row.prefix)
    return true
  }
  if (model.cursor.value.env === groupName && (key === "Enter" || key === " ")) {
    togglePreviews(model)
    return true
  }
  const spot = spotOf(model)
  if (spot === null) {
    const address = row === undefined ? null : addressOf(model, row)
    if (key !== "Enter" || address === null) return false
    if (isWide.peek() && row !== undefined) select(row.key)
    else navigate(address)
    return true
  }
  switch (key) {
    case "Enter":
    case "e":
      model.setOpen({ type: "cell", mode: spot.column.canWrite ? "edit" : "look", cell: cellOf(spot) })
      return true
    case " ":
      model.setOpen({ type: "cell", mode: "look", cell: cellOf(spot) })
      return true
    case "Delete":
    case "Backspace":
      toggleRemoval(model, spot)
      return true
    default:
      return false
  }
}
