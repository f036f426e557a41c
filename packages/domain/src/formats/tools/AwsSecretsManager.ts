import * as Either from "effect/Either"
import { textOfBase64 } from "./Binary.js"
import { flatten } from "./Flatten.js"
import { readJsonTrees } from "./JsonTree.js"
import type { Places } from "./Places.js"
import type { ReadOptions, Tool } from "./Tool.js"
import { at, has, isList, isMap, textAt, type Tree } from "./Tree.js"

/** Returns true if the document is the output of `get-secret-value`. */
export const isAwsSecret = (tree: Tree): boolean =>
  isMap(tree) && has(tree, "ARN", "Name") && (has(tree, "SecretString") || has(tree, "SecretBinary"))

/** Returns true if the document is the output of `batch-get-secret-value`. */
export const isAwsBatch = (tree: Tree): boolean => isMap(tree) && isList(at(tree, "SecretValues"))

/** The object that a text holds, as a tree whose lines are that of the text. */
const objectIn = (text: string): Tree | undefined => {
  const trees = Either.getOrElse(readJsonTrees(text), () => [])
  const [tree] = trees
  return trees.length === 1 && isMap(tree) ? tree : undefined
}

const addSecret = (secret: Tree, places: Places, { base64, separator, split }: ReadOptions): void => {
  const { line } = secret
  const name = textAt(secret, "Name") ?? ""
  const text = textAt(secret, "SecretString")
  const object = split && text !== undefined ? objectIn(text) : undefined
  if (object !== undefined) return flatten(object, places, { place: {}, separator })
  if (text !== undefined) return places.add({}, { key: name, line, value: text })
  places.add({}, { key: name, line, ...textOfBase64(textAt(secret, "SecretBinary") ?? "", base64) })
}

export const awsSecretsManager: Tool = {
  name: "aws-sm",
  prints: "aws secretsmanager get-secret-value --secret-id NAME",
  syntaxes: ["json", "yaml"],
  incomplete: (tree) => {
    if (isList(at(tree, "SecretList"))) {
      return "holds only names, as list-secrets prints them: read values with aws secretsmanager batch-get-secret-value"
    }
    return textAt(tree, "NextToken") === undefined
      ? undefined
      : "is one page of several, because it has a NextToken: run the command again without --max-items and --no-paginate"
  },
  read: (tree, places, options) => {
    places.keysOf({})
    if (isAwsSecret(tree)) {
      addSecret(tree, places, options)
      return true
    }
    const values = at(tree, "SecretValues")
    if (!isList(values) || !values.items.every(isAwsSecret)) return false
    for (const secret of values.items) addSecret(secret, places, options)
    const errors = at(tree, "Errors")
    for (const error of isList(errors) ? errors.items : []) {
      const why = textAt(error, "ErrorCode") ?? "an error"
      const problem = `has no value in the document: AWS reported ${/^\w+$/.test(why) ? why : "an error"}`
      places.add({}, { key: textAt(error, "SecretId") ?? "", line: error.line, problem })
    }
    return true
  }
}
