import { textOfBase64 } from "./Binary.js"
import type { Places } from "./Places.js"
import type { ReadOptions, Tool } from "./Tool.js"
import { at, isList, isMap, isScalar, textAt, type Tree } from "./Tree.js"

export const isKubernetes = (tree: Tree): boolean =>
  isMap(tree) && textAt(tree, "apiVersion") !== undefined && textAt(tree, "kind") !== undefined

/** Secrets that the cluster and its tools make for themselves. */
const ownTypes: Readonly<Record<string, string>> = {
  "kubernetes.io/service-account-token": "the token of a service account of the cluster",
  "bootstrap.kubernetes.io/token": "a token of the cluster",
  "helm.sh/release.v1": "a record of Helm"
}

/** Kinds of resources from which a controller makes a Secret, each with why it cannot be imported. */
const encrypted: Readonly<Record<string, string>> = {
  SealedSecret: "holds encrypted values",
  ExternalSecret: "holds no values"
}

const addSecret = (secret: Tree, places: Places, { base64 }: ReadOptions): void => {
  const place = { env: textAt(secret, "metadata", "namespace") }
  const name = textAt(secret, "metadata", "name") ?? ""
  const owned = ownTypes[textAt(secret, "type") ?? ""]
  const own = owned === undefined ? {} : { own: owned }
  places.keysOf(place)
  const add = (
    member: Tree | undefined,
    decode: (text: string) => { readonly value: string } | { readonly problem: string }
  ) => {
    for (const { key, line, value } of isMap(member) ? member.members : []) {
      const decoded = isScalar(value) ? decode(value.text) : { problem: "is not a text" }
      places.add(place, { key, path: `${name}/${key}`, line, ...own, ...decoded })
    }
  }
  const plain = at(secret, "stringData")
  const data = at(secret, "data")
  // The cluster takes `stringData` before `data`.
  const rest = isMap(data) ? { ...data, members: data.members.filter(({ key }) => at(plain, key) === undefined) } : data
  add(rest, (text) => textOfBase64(text, base64))
  add(plain, (value) => ({ value }))
}

export const kubernetes: Tool = {
  name: "kubernetes",
  prints: "kubectl get secret NAME -o yaml",
  syntaxes: ["json", "yaml"],
  incomplete: (tree) =>
    (textAt(tree, "metadata", "continue") ?? "") === ""
      ? undefined
      : "is one page of several, because its metadata has continue: read all with kubectl get secrets -o yaml",
  read: (tree, places, options) => {
    const kind = textAt(tree, "kind")
    if (!isKubernetes(tree) || kind === undefined) return false
    const items = at(tree, "items")
    for (const item of isList(items) ? items.items : [tree]) {
      const found = textAt(item, "kind") ?? (kind === "SecretList" ? "Secret" : "object without a kind")
      if (found === "Secret") addSecret(item, places, options)
      else {
        const why = encrypted[found]
        const advice = why === undefined ? "" : ` and ${why}: export the Secret that its controller makes`
        places.stop(item.line, `is a ${/^\w+$/.test(found) ? found : "different resource"}, not a Secret${advice}`)
      }
    }
    return true
  }
}
