import { secretAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { type Model, spotOf, toggleRemoval } from "./Model.js"

/** What keys do in the grid, beside moving. Returns whether the key did something. */
export const pressInGrid = (model: Model, event: KeyboardEvent): boolean => {
  const { ctrlKey, key, metaKey } = event
  if (key === "z" && (ctrlKey || metaKey)) {
    model.staging.undo()
    return true
  }
  if (ctrlKey || metaKey) return false
  const spot = spotOf(model)
  if (spot === null) {
    const row = model.shown.value[model.position.value.row]
    const env = row === undefined ? undefined : model.grid.value.columns.find((_, index) => row.cells[index]?.stored)
    if (key !== "Enter" || row === undefined || env === undefined) return false
    navigate(secretAddress(model.place.org, model.place.project, env.name, row.key))
    return true
  }
  switch (key) {
    case "Enter":
    case "e":
      model.open.value = { type: "cell", mode: spot.column.canWrite ? "edit" : "look" }
      return true
    case " ":
      model.open.value = { type: "cell", mode: "look" }
      return true
    case "Delete":
    case "Backspace":
      toggleRemoval(model, spot)
      return true
    default:
      return false
  }
}
