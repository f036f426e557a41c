import type { Plugin } from "vite"
import { type Cut, isNode, listOf, nameOf, type Node, withCuts } from "./Syntax.js"

interface Row {
  /** The modules, by their path. */
  readonly in: RegExp
  /** Methods of classes and objects. */
  readonly methods: RegExp
  /** Properties of objects. */
  readonly properties?: RegExp
}

const nodes = "Document|directives|Alias|Collection|Pair|YAMLMap|YAMLSeq|set"

/** Members that the console never uses, in modules that it does use. */
const rows: ReadonlyArray<Row> = [
  // How values print themselves. `Redacted` does so in any case.
  { in: /\/(?:effect|platform)\/dist\/esm\/(?!.*\/redacted\.js$).+\.js$/, methods: /^(?:toJSON|NodeInspectSymbol)$/ },
  // The texts of the toolkit's schemas, for documents, generated values and messages that `brokenRules` shows to nobody.
  {
    in: /\/effect\/dist\/esm\/(?:Schema|SchemaAST|ParseResult)\.js$/,
    methods: /^(?:toString|transformOrFail|transformOrFailFrom)$/,
    properties: /^(?:arbitrary|description|documentation|equivalence|jsonSchema|pretty|title)$/
  },
  { in: /\/@effect\/platform\/dist\/esm\/HttpApiError\.js$/, methods: /^(?:fromParseError|refailParseError)$/ },
  // The reader of YAML can also change documents and write them.
  {
    in: new RegExp(`/yaml/browser/dist/(?:.+/)?(?:${nodes})\\.js$`),
    methods: /^(?:addIn|clone|createAlias|createPair|deleteIn|from|getIn|hasAllNullValues|hasIn|setIn|toString)$/
  },
  {
    in: /\/yaml\/browser\/dist\/(?:doc|schema)\//,
    methods: /^(?:createNode|stringify)$/,
    properties: /^(?:createNode|stringify)$/
  }
]

/** `toString` of values that print what `toJSON` returns. */
const printed = /^\{\s*return format\(this\.toJSON\(\)\);\s*\}$/

const isFunction = (value: unknown): boolean => isNode(value) && value.type === "FunctionExpression"

const bodyOf = (value: unknown, code: string): string => {
  const body = isNode(value) ? value["body"] : undefined
  return isNode(body) ? code.slice(body.start, body.end) : ""
}

const cutMembers = (node: unknown, code: string, found: ReadonlyArray<Row>, cuts: Array<Cut>): void => {
  if (Array.isArray(node)) for (const one of node) cutMembers(one, code, found, cuts)
  if (!isNode(node)) return
  const isClass = node.type === "ClassBody"
  const members = isClass ? node["body"] : node.type === "ObjectExpression" ? node["properties"] : []
  const isCut = ({ key, value }: Node & Readonly<Record<string, unknown>>): boolean => {
    const name = nameOf(key)
    if (isFunction(value) && printed.test(bodyOf(value, code))) return true
    return found.some(
      ({ methods, properties }) =>
        (isFunction(value) && methods.test(name)) || (!isClass && properties?.test(name) === true)
    )
  }
  for (const member of listOf(members)) {
    if (!isNode(member) || !isCut(member)) continue
    cuts.push({ start: member.start, end: member.end, replacement: isClass ? "" : "...{}" })
  }
  for (const child of Object.values(node)) if (typeof child === "object") cutMembers(child, code, found, cuts)
}

/** Leaves out members of libraries that the console never uses. */
export const withoutMembers: Plugin = {
  name: "without-members",
  transform(code, id) {
    const found = rows.filter((row) => row.in.test(id))
    if (found.length === 0) return null
    const cuts: Array<Cut> = []
    cutMembers(this.parse(code).body, code, found, cuts)
    return cuts.length === 0 ? null : { code: withCuts(code, cuts), map: null }
  }
}
