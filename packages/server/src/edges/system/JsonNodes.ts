import * as Predicate from "effect/Predicate"

/** A JSON object. */
export type Node = Readonly<Record<string, unknown>>

export const nodeOf = (u: unknown): Node => (Predicate.isRecord(u) ? u : {})

export const nodesOf = (u: unknown): ReadonlyArray<Node> => (Array.isArray(u) ? u.filter(Predicate.isRecord) : [])

export const textOf = (u: unknown): string | undefined => (Predicate.isString(u) ? u : undefined)

/** Returns the value at a path of names; undefined if there is none. */
export const find = (node: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => nodeOf(inner)[name], node)

/** Maps each value of a node. */
export const mapNode = (node: unknown, change: (part: unknown, name: string) => unknown): Node =>
  Object.fromEntries(Object.entries(nodeOf(node)).map(([name, part]) => [name, change(part, name)]))

/** Maps every node of a document, innermost first. */
export const rewrite = (part: unknown, change: (node: Node) => Node): unknown => {
  if (Array.isArray(part)) return part.map((item) => rewrite(item, change))
  return Predicate.isRecord(part) ? change(mapNode(part, (inner) => rewrite(inner, change))) : part
}
