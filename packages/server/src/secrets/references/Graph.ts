import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { maxReferenceDepth } from "@coffer/domain/Reference"

/** A secret of a project. */
export interface Node {
  readonly env: EnvName
  readonly key: SecretKey
}

/** A text that no other secret of the project has. */
export const nodeId = ({ env, key }: Node): string => `${env}:${key}`

/** Which secrets refer to which, in both directions. */
export interface Graph {
  readonly down: ReadonlyMap<string, ReadonlyArray<Node>>
  readonly up: ReadonlyMap<string, ReadonlyArray<Node>>
}

const add = (map: Map<string, Array<Node>>, from: Node, to: Node): void => {
  const found = map.get(nodeId(from))
  if (found === undefined) map.set(nodeId(from), [to])
  else found.push(to)
}

/** The graph of references: those that stay, and those of the changed secrets. */
export const graphOf = (
  staying: ReadonlyArray<{ readonly from: Node; readonly to: Node }>,
  changed: Iterable<{ readonly from: Node; readonly targets: ReadonlyArray<Node> }>
): Graph => {
  const down = new Map<string, Array<Node>>()
  const up = new Map<string, Array<Node>>()
  const connect = (from: Node, to: Node): void => {
    add(down, from, to)
    add(up, to, from)
  }
  for (const { from, to } of staying) connect(from, to)
  for (const { from, targets } of changed) for (const to of targets) connect(from, to)
  return { down, up }
}

/** Everything that can be reached from a secret in one direction, without the secret. */
export const reachable = (map: ReadonlyMap<string, ReadonlyArray<Node>>, start: Node): ReadonlyArray<Node> => {
  const found = new Map<string, Node>()
  const open = [start]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of map.get(nodeId(node)) ?? []) {
      if (found.has(nodeId(next))) continue
      found.set(nodeId(next), next)
      open.push(next)
    }
  }
  found.delete(nodeId(start))
  return [...found.values()]
}

/** What is wrong with the references of a changed secret. */
export type Wrong =
  { readonly wrong: "cycle"; readonly way: ReadonlyArray<Node> } | { readonly wrong: "depth"; readonly at: Node }

/**
 * Returns the function that checks a changed secret: no way through it may come back to it, or have more references than
 * allowed. Each secret of the graph is walked once, and never further than allowed.
 */
export const checking = ({ down, up }: Graph): ((node: Node) => Wrong | null) => {
  let cycle: ReadonlyArray<Node> | null = null

  /** How many references follow one another from the end of a way; Infinity for a cycle, or more than allowed. */
  const lengthFrom = (
    map: ReadonlyMap<string, ReadonlyArray<Node>>,
    known: Map<string, number>,
    node: Node,
    way: ReadonlyArray<Node>
  ): number => {
    const id = nodeId(node)
    const begun = way.findIndex((passed) => nodeId(passed) === id)
    if (begun >= 0) cycle = [...way.slice(begun), node]
    if (begun >= 0 || way.length > maxReferenceDepth) return Infinity
    const before = known.get(id)
    if (before !== undefined) return before
    let length = 0
    for (const next of map.get(id) ?? []) {
      length = Math.max(length, 1 + lengthFrom(map, known, next, [...way, node]))
      if (length === Infinity) return length
    }
    known.set(id, length)
    return length
  }

  const below = new Map<string, number>()
  const above = new Map<string, number>()
  return (node) => {
    const length = lengthFrom(down, below, node, [])
    if (cycle !== null) return { wrong: "cycle", way: cycle }
    return length + lengthFrom(up, above, node, []) > maxReferenceDepth ? { wrong: "depth", at: node } : null
  }
}
