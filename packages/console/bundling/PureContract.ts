import type { Plugin } from "vite"
import { type Cut, isNode, listOf, withCuts } from "./Syntax.js"

/** Expressions that do nothing when they are evaluated. */
const plain: ReadonlySet<string> = new Set(["ArrowFunctionExpression", "FunctionExpression", "Identifier", "Literal"])

/** The expressions that a statement of a module evaluates: the values of its constants, and what its class extends. */
const valuesOf = (statement: unknown): ReadonlyArray<unknown> => {
  if (!isNode(statement)) return []
  if (statement.type === "ExportNamedDeclaration") return valuesOf(statement["declaration"])
  if (statement.type === "ClassDeclaration") return [statement["superClass"]]
  if (statement.type !== "VariableDeclaration") return []
  return listOf(statement["declarations"]).flatMap((one) =>
    isNode(one) && isNode(one["id"]) && one["id"].type === "Identifier" ? [one["init"]] : []
  )
}

/** Marks the values of the contract's constants as pure, so that Rollup leaves out those that the console does not use. */
export const pureContract: Plugin = {
  name: "pure-contract",
  transform(code, id) {
    if (!/\/domain\/dist\/(?:\w+\/)*\w+\.js$/.test(id)) return null
    const cuts = listOf(this.parse(code).body)
      .flatMap(valuesOf)
      .flatMap((value): ReadonlyArray<Cut> => {
        if (!isNode(value) || plain.has(value.type)) return []
        const text = code.slice(value.start, value.end)
        return [{ start: value.start, end: value.end, replacement: `/*#__PURE__*/ (() => (${text}))()` }]
      })
    return { code: withCuts(code, cuts), map: null }
  }
}
