import type { Plugin } from "vite"

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

interface Cut {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

const isNode = (value: unknown): value is Node & Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value

/** Functions of the contract whose arguments after the first are for its document. */
const described: ReadonlySet<string> = new Set(["field", "optional", "response"])

/** The annotations of a schema that are for the document. Messages and identifiers stay. */
const documenting: ReadonlySet<string> = new Set(["description", "examples", "jsonSchema"])

/** The options of an error class that serve only the document; clients use the others. */
const ofErrors: ReadonlySet<string> = new Set(["description", "example"])

const nameOf = (node: unknown): string =>
  isNode(node) && node.type === "Identifier" && typeof node["name"] === "string" ? node["name"] : ""

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Replaces properties of an object literal by nothing. */
const cutProperties = (object: unknown, names: ReadonlySet<string>, cuts: Array<Cut>): void => {
  if (!isNode(object) || object.type !== "ObjectExpression") return
  for (const property of listOf(object["properties"])) {
    if (!isNode(property) || !names.has(nameOf(property["key"]))) continue
    cuts.push({ start: property.start, end: property.end, replacement: "...{}" })
  }
}

const has = (object: unknown, name: string): boolean =>
  isNode(object) && listOf(object["properties"]).some((one) => isNode(one) && nameOf(one["key"]) === name)

const cutCall = (call: Readonly<Record<string, unknown>>, cuts: Array<Cut>): void => {
  const { callee } = call
  const [first, ...rest] = listOf(call["arguments"])
  const last = rest.at(-1)
  const name = nameOf(callee)
  if (described.has(name) && isNode(first) && isNode(last)) {
    cuts.push({ start: first.end, end: last.end, replacement: "" })
  }
  if (isNode(callee) && nameOf(callee["property"]) === "annotations") cutProperties(first, documenting, cuts)
  const [options] = rest
  if (has(options, "status") && has(options, "next")) cutProperties(options, ofErrors, cuts)
}

const cutsIn = (node: unknown, cuts: Array<Cut> = []): ReadonlyArray<Cut> => {
  if (Array.isArray(node)) for (const one of node) cutsIn(one, cuts)
  if (!isNode(node)) return cuts
  if (node.type === "CallExpression") cutCall(node, cuts)
  for (const child of Object.values(node)) if (typeof child === "object") cutsIn(child, cuts)
  return cuts
}

/** Applies cuts. A cut within another one is left out. */
const withCuts = (code: string, cuts: ReadonlyArray<Cut>): string => {
  let [kept, at] = ["", 0]
  for (const { end, replacement, start } of [...cuts].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at) continue
    kept += code.slice(at, start) + replacement
    at = end
  }
  return kept + code.slice(at)
}

const endpoints = /\.annotate\(OpenApi\.(?:Summary|Description|Title), (?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)\)/g

/** Leaves out what the contract says for its document alone: summaries, descriptions and examples. */
export const withoutDocumentation: Plugin = {
  name: "without-documentation",
  transform(code, id) {
    if (!/\/domain\/dist\/(?!archive\/|formats\/)(?:\w+\/)?\w+\.js$/.test(id)) return null
    const plain = id.includes("/domain/dist/api/") ? code.replace(endpoints, "") : code
    return { code: withCuts(plain, cutsIn(this.parse(plain))), map: null }
  }
}
