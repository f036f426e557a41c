import type { Tool } from "./Tool.js"
import { at, has, isList, isMap, textAt, type Tree } from "./Tree.js"

/** Returns true if the document is the output of `op item get`. */
export const isOnePasswordItem = (tree: Tree): boolean =>
  isMap(tree) && has(tree, "category", "vault") && isList(at(tree, "fields"))

/** The placeholder that the program prints for a concealed value. */
const concealed = /^\[use 'op item get .*--reveal' to reveal\]$/

const isSummary = (tree: Tree) => isMap(tree) && has(tree, "category", "vault") && !has(tree, "fields")

export const onePassword: Tool = {
  name: "1password",
  prints: "op item get NAME --format json --reveal",
  syntaxes: ["json"],
  incomplete: (tree) =>
    isSummary(tree)
      ? "holds no fields, as op item list prints items: pipe it through op item get --format json --reveal -"
      : undefined,
  read: (tree, places) => {
    const fields = at(tree, "fields")
    if (!isOnePasswordItem(tree) || !isList(fields)) return false
    const place = { env: textAt(tree, "title") }
    places.keysOf(place)
    for (const field of fields.items) {
      const value = textAt(field, "value")
      // Items have fields for what they could hold, such as notes.
      if (value === undefined || value === "") continue
      const key = textAt(field, "label") ?? textAt(field, "id") ?? ""
      const section = textAt(field, "section", "label") ?? ""
      const path = section === "" ? key : `${section}/${key}`
      const shown = concealed.test(value) ? { problem: "is concealed: add --reveal to op item get" } : { value }
      places.add(place, { key, path, line: field.line, ...shown })
    }
    return true
  }
}
