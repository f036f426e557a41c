import type { Plugin } from "vite"
import { type Cut, cutsIn, isNode, listOf, nameOf, type Node, withCuts } from "./Syntax.js"

/** Functions of the contract that describe their first argument, and change nothing else of it. */
const describing: ReadonlySet<string> = new Set(["field", "response"])

/** Methods that take the annotations of a schema, as their last argument. */
const annotating: ReadonlySet<string> = new Set(["annotations", "between", "filter", "maxLength", "pattern"])

/** The annotations of a schema that are for the document. Messages stay. */
const documenting: ReadonlySet<string> = new Set(["description", "examples", "identifier", "jsonSchema"])

/** Functions whose result is such annotations. */
const documents: ReadonlySet<string> = new Set(["withExamples", "withJsonSchema"])

/** The options of an error class that serve only the document, or other clients than the console. */
const ofErrors: ReadonlySet<string> = new Set(["description", "example", "exit", "next", "retry"])

const propertiesOf = (object: unknown): ReadonlyArray<unknown> =>
  isNode(object) && object.type === "ObjectExpression" ? listOf(object["properties"]) : []

const isDocumenting = (property: unknown): boolean => {
  if (!isNode(property)) return false
  const { argument, key } = property
  return documenting.has(nameOf(key)) || (isNode(argument) && documents.has(nameOf(argument["callee"])))
}

/** Replaces properties of an object literal by nothing. */
const cutProperties = (object: unknown, isCut: (property: unknown) => boolean, cuts: Array<Cut>): void => {
  for (const property of propertiesOf(object)) {
    if (!isNode(property) || !isCut(property)) continue
    cuts.push({ start: property.start, end: property.end, replacement: "...{}" })
  }
}

const has = (object: unknown, name: string): boolean =>
  propertiesOf(object).some((one) => isNode(one) && nameOf(one["key"]) === name)

const cutCall = (call: Node & Readonly<Record<string, unknown>>, cuts: Array<Cut>): void => {
  const { callee } = call
  const given = listOf(call["arguments"])
  const [first, options] = given
  const last = given.at(-1)
  if (describing.has(nameOf(callee)) && isNode(first)) {
    cuts.push({ start: call.start, end: first.start, replacement: "" })
    cuts.push({ start: first.end, end: call.end, replacement: "" })
  }
  if (nameOf(callee) === "optional" && isNode(first) && isNode(last)) {
    cuts.push({ start: first.end, end: last.end, replacement: "" })
  }
  if (has(options, "status") && has(options, "next")) {
    cutProperties(options, (one) => isNode(one) && ofErrors.has(nameOf(one["key"])), cuts)
  }
  if (!isNode(callee)) return
  const method = nameOf(callee["property"])
  const { object } = callee
  if (method === "annotations" && isNode(object) && propertiesOf(last).every(isDocumenting)) {
    cuts.push({ start: object.end, end: call.end, replacement: "" })
  } else if (annotating.has(method)) cutProperties(last, isDocumenting, cuts)
}

/** Leaves out what the contract says for its document alone: summaries, descriptions and examples. */
export const withoutDocumentation: Plugin = {
  name: "without-documentation",
  transform(code, id) {
    if (!/\/domain\/dist\/(?!archive\/|formats\/)(?:\w+\/)?\w+\.js$/.test(id)) return null
    return { code: withCuts(code, cutsIn(this.parse(code), cutCall)), map: null }
  }
}
