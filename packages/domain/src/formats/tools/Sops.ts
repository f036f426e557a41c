import { sopsEnv } from "./EnvDialects.js"
import { flatten } from "./Flatten.js"
import type { Tool } from "./Tool.js"
import { isMap } from "./Tree.js"

/** Files that `sops` encrypts are any YAML, JSON or `.env` files. */
export const sops: Tool = {
  name: "sops",
  prints: "sops --decrypt FILE",
  printsJson: "sops --decrypt --output-type json FILE",
  syntaxes: ["json", "yaml", "env"],
  readEnv: sopsEnv,
  read: (tree, places, { separator }) => {
    if (!isMap(tree)) return false
    places.keysOf({})
    flatten(tree, places, { place: {}, separator })
    return true
  }
}
