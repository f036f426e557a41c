import { flatten, textOf } from "./Flatten.js"
import type { PlaceName, Places } from "./Places.js"
import type { ReadOptions, Tool } from "./Tool.js"
import { at, type Dictionary, has, isList, isMap, type Tree } from "./Tree.js"

/** Returns true if the document is the output of `vault kv get -format=json`, or a response of the API. */
export const isVaultSecret = (tree: Tree): boolean =>
  isMap(tree) && has(tree, "data") && (has(tree, "lease_duration") || has(tree, "request_id"))

/** A whole mount: secrets by their paths. */
export const isVaultMount = (tree: Tree): tree is Dictionary =>
  isMap(tree) && tree.members.length > 0 && tree.members.every(({ value }) => isVaultSecret(value))

/** Version 2 has the values beside the metadata of the version. */
const isVersioned = (data: Tree | undefined): boolean =>
  isMap(data) && has(data, "data", "metadata") && at(data, "metadata", "version") !== undefined

/** `env`, `project/env`, or `project/env/name/…`, where the rest goes in front of the keys. */
const placeOf = (path: string): PlaceName & { readonly above: ReadonlyArray<string> } => {
  const [first, second, ...above] = path.split("/").filter((part) => part !== "")
  return second === undefined ? { env: first, above: [] } : { project: first, env: second, above }
}

const addSecret = (tree: Tree, path: string, places: Places, { separator, split }: ReadOptions): void => {
  const { above, ...place } = placeOf(path)
  const data = at(tree, "data")
  const values = isVersioned(data) ? at(data, "data") : data
  places.keysOf(place)
  // The current version of a secret may be deleted.
  if (!isMap(values)) return
  if (split) return flatten(values, places, { place, separator, above })
  for (const { key, line, value } of values.members) {
    const name = [...above, key]
    places.add(place, { key: name.join(separator), path: name.join("/"), line, value: textOf(value) })
  }
}

export const vault: Tool = {
  name: "vault",
  prints: "vault kv get -format=json PATH",
  syntaxes: ["json", "yaml"],
  incomplete: (tree) => {
    if (isList(tree) && tree.items.length > 0 && tree.items.every(({ type }) => type === "text")) {
      return "holds only names, as vault kv list prints them: read each with vault kv get -format=json, or leave FILE out"
    }
    const secrets = isVaultMount(tree) ? tree.members.map(({ value }) => value) : [tree]
    if (secrets.some((secret) => isMap(at(secret, "wrap_info")))) {
      return "is a wrapped response without values: unwrap it with vault unwrap -format=json TOKEN, and import what that prints"
    }
    return secrets.some((secret) => isVaultSecret(secret) && at(secret, "data")?.type === "null")
      ? "is a response without data: read the secret with vault kv get -format=json PATH"
      : undefined
  },
  read: (tree, places, options) => {
    if (isVaultSecret(tree)) {
      addSecret(tree, "", places, options)
      return true
    }
    if (!isVaultMount(tree)) return false
    for (const { key, value } of tree.members) addSecret(value, key, places, options)
    return true
  }
}
