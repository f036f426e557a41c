import { navigate } from "../../routing/Router.js"
import { addressOf, cellOf, isCursorGone, type Model, spotOf, toggleRemoval } from "./Model.js"

/** What keys do in the grid, beside moving. Returns whether the key did something. */
export const pressInGrid = (model: Model, event: KeyboardEvent): boolean => {
  const { ctrlKey, key, metaKey } = event
  if (key === "z" && (ctrlKey || metaKey)) {
    model.staging.undo()
    return true
  }
  if (ctrlKey || metaKey || isCursorGone(model)) return false
  const spot = spotOf(model)
  if (spot === null) {
    const row = model.shown.value[model.position.value.row]
    const address = row === undefined ? null : addressOf(model, row)
    if (key !== "Enter" || address === null) return false
    navigate(address)
    return true
  }
  switch (key) {
    case "Enter":
    case "e":
      model.open.value = { type: "cell", mode: spot.column.canWrite ? "edit" : "look", cell: cellOf(spot) }
      return true
    case " ":
      model.open.value = { type: "cell", mode: "look", cell: cellOf(spot) }
      return true
    case "Delete":
    case "Backspace":
      toggleRemoval(model, spot)
      return true
    default:
      return false
  }
}
