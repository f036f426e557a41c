import type { PlaceName, Places } from "./Places.js"
import { isList, isMap, isScalar, type Tree } from "./Tree.js"

/** A tree as JSON, on one line. */
const jsonOf = (tree: Tree): string => {
  if (isMap(tree))
    return `{${tree.members.map(({ key, value }) => `${JSON.stringify(key)}:${jsonOf(value)}`).join(",")}}`
  if (isList(tree)) return `[${tree.items.map(jsonOf).join(",")}]`
  return tree.type === "text" ? JSON.stringify(tree.text) : tree.text
}

/** A text as it is, and anything else as the document spells it. */
export const textOf = (tree: Tree): string => (isScalar(tree) ? tree.text : jsonOf(tree))

interface Nested {
  readonly place: PlaceName
  readonly separator: string
  /** The names above. */
  readonly above?: ReadonlyArray<string>
}

/**
 * Adds a key for each scalar of a tree. Names of nested keys, and positions in lists, are joined with the separator. Numbers,
 * booleans and null become the text that the document shows.
 */
export const flatten = (tree: Tree, places: Places, nested: Nested): void => {
  const { above = [], place, separator } = nested
  const below = (name: string, value: Tree) => flatten(value, places, { place, separator, above: [...above, name] })
  if (isMap(tree)) for (const { key, value } of tree.members) below(key, value)
  else if (isList(tree)) tree.items.forEach((item, index) => below(String(index), item))
  else {
    places.add(place, {
      key: above.join(separator),
      path: above.join("."),
      line: tree.line,
      value: tree.text,
      notes: tree.notes
    })
  }
}

/** Whether a tree is a map of scalars. */
export const isFlat = (tree: Tree): boolean => isMap(tree) && tree.members.every(({ value }) => isScalar(value))

/** Adds the keys of a map of scalars. */
export const addFlat = (tree: Tree, places: Places, place: PlaceName): void => {
  if (!isMap(tree)) return
  places.keysOf(place)
  for (const { key, line, value } of tree.members) {
    if (isScalar(value)) places.add(place, { key, line, value: value.text, notes: value.notes })
  }
}
