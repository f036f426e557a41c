import { dottedTarget } from "./Doppler.js"
import { infisicalEnv, infisicalNotes } from "./EnvDialects.js"
import { addFlat, isFlat } from "./Flatten.js"
import type { PlainKey } from "./Places.js"
import type { Tool } from "./Tool.js"
import { at, has, isList, isScalar, textAt, type Tree } from "./Tree.js"

/** The names of the fields: in what the program prints, and in what the API returns. */
const forms = [
  { key: "key", value: "value" },
  { key: "secretKey", value: "secretValue" }
] as const

const formOf = (item: Tree) => forms.find(({ key, value }) => has(item, key, value))

/** Whether this is the program's list of records. */
export const isInfisicalList = (tree: Tree): boolean =>
  isList(tree) && tree.items.length > 0 && tree.items.every((item) => formOf(item) !== undefined)

const hidden = "has a value that Infisical does not show to this login"

const keyOf = (item: Tree): PlainKey | undefined => {
  const form = formOf(item)
  const value = form === undefined ? undefined : at(item, form.value)
  if (form === undefined || value === undefined || !isScalar(value)) return undefined
  const key = textAt(item, form.key) ?? ""
  const folder = (textAt(item, "secretPath") ?? "").replace(/\/$/, "")
  const isHidden = at(item, "secretValueHidden")
  return {
    key,
    path: folder === "" ? key : `${folder}/${key}`,
    line: item.line,
    ...(isHidden?.type === "boolean" && isHidden.text === "true" ? { problem: hidden } : { value: value.text })
  }
}

const itemsOf = (tree: Tree | undefined): ReadonlyArray<Tree> => (isList(tree) ? tree.items : [])

export const infisical: Tool = {
  name: "infisical",
  prints: "infisical export --format=json",
  syntaxes: ["json", "yaml", "env"],
  readEnv: infisicalEnv,
  yamlNotes: infisicalNotes,
  // A folder may stand between environment and key: such a reference is left.
  targetOf: (text) => {
    const target = dottedTarget(text)
    return target?.project === undefined ? target : undefined
  },
  read: (tree, places) => {
    const all = at(tree, "secrets") ?? tree
    if (isList(all)) {
      const own = all.items.map(keyOf)
      const names = new Set(own.map((item) => item?.key))
      // The last import counts, after what the environment has itself.
      const imported = itemsOf(at(tree, "imports"))
        .toReversed()
        .flatMap((each) => itemsOf(at(each, "secrets")).map(keyOf))
        .filter((item) => !names.has(item?.key) && names.add(item?.key))
      places.keysOf({})
      for (const item of [...own, ...imported]) {
        if (item === undefined) return false
        places.add({}, item)
      }
      return true
    }
    if (!isFlat(tree)) return false
    addFlat(tree, places, {})
    return true
  }
}
