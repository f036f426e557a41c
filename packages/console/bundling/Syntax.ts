/** Parts of programs, as Rollup parses them. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

export interface Cut {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

export const isNode = (value: unknown): value is Node & Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value

export const nameOf = (node: unknown): string =>
  isNode(node) && node.type === "Identifier" && typeof node["name"] === "string" ? node["name"] : ""

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Collects the cuts that `cutCall` makes in the calls of a program. */
export const cutsIn = (
  node: unknown,
  cutCall: (call: Node & Readonly<Record<string, unknown>>, cuts: Array<Cut>) => void,
  cuts: Array<Cut> = []
): ReadonlyArray<Cut> => {
  if (Array.isArray(node)) for (const one of node) cutsIn(one, cutCall, cuts)
  if (!isNode(node)) return cuts
  if (node.type === "CallExpression") cutCall(node, cuts)
  for (const child of Object.values(node)) if (typeof child === "object") cutsIn(child, cutCall, cuts)
  return cuts
}

/** Applies cuts. A cut within another one is left out. */
export const withCuts = (code: string, cuts: ReadonlyArray<Cut>): string => {
  let [kept, at] = ["", 0]
  for (const { end, replacement, start } of [...cuts].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at) continue
    kept += code.slice(at, start) + replacement
    at = end
  }
  return kept + code.slice(at)
}
