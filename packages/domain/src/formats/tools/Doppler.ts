import { dopplerEnv } from "./EnvDialects.js"
import { addFlat, isFlat } from "./Flatten.js"
import type { PlaceName } from "./Places.js"
import type { Tool, ToolTarget } from "./Tool.js"
import { at, has, isMap, textAt, type Tree } from "./Tree.js"

/** Whether a map has the form of `doppler secrets --json`: a record with both values for each key. */
const hasBoth = (tree: Tree): boolean =>
  isMap(tree) &&
  tree.members.length > 0 &&
  tree.members.every(({ value }) => at(value, "computed") !== undefined || at(value, "raw") !== undefined)

/** Whether only Doppler prints this: both values of a key, or the names of its place. */
export const isDoppler = (tree: Tree): boolean =>
  hasBoth(at(tree, "secrets") ?? tree) || has(tree, "DOPPLER_PROJECT", "DOPPLER_CONFIG")

/** The place that a document names in its own keys. */
const placeOf = (text: (key: string) => string | undefined): PlaceName => ({
  project: text("DOPPLER_PROJECT"),
  env: text("DOPPLER_CONFIG")
})

/** `KEY`, `config.KEY` or `project.config.KEY`. */
export const dottedTarget = (text: string): ToolTarget | undefined => {
  const [key, env, project, ...more] = text.trim().split(".").reverse()
  if (key === undefined || key === "" || more.length > 0) return undefined
  return { key, ...(env === undefined ? {} : { env }), ...(project === undefined ? {} : { project }) }
}

export const doppler: Tool = {
  name: "doppler",
  prints: "doppler secrets download --no-file --format json",
  syntaxes: ["json", "yaml", "env"],
  readEnv: dopplerEnv,
  own: [/^DOPPLER_(?:PROJECT|CONFIG|ENVIRONMENT)$/, "Doppler's own: it names a place there"],
  targetOf: dottedTarget,
  read: (tree, places) => {
    // The API wraps the same records.
    const all = at(tree, "secrets") ?? tree
    if (isMap(all) && hasBoth(all)) {
      const place = placeOf((key) => textAt(all, key, "computed"))
      places.keysOf(place)
      for (const { key, line, value } of all.members) {
        const [raw, computed] = [textAt(value, "raw"), textAt(value, "computed")]
        if (raw === undefined && computed === undefined) {
          places.add(place, { key, line, problem: "has a value that Doppler does not show to this login" })
        } else {
          places.add(place, {
            key,
            line,
            value: raw ?? computed ?? "",
            ...(computed === undefined ? {} : { resolved: computed })
          })
        }
      }
      return true
    }
    if (!isFlat(tree)) return false
    addFlat(
      tree,
      places,
      placeOf((key) => textAt(tree, key))
    )
    return true
  }
}
