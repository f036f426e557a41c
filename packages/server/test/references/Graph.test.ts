import { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { maxReferenceDepth } from "@coffer/domain/secrets/Reference"
import { checking, graphOf, type Node, nodeId, reachable } from "@coffer/server/secrets/references/Graph"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { runs } from "../../../domain/test/support/Runs.js"

interface Edge {
  readonly from: Node
  readonly to: Node
}

const envs = ["dev", "prod"]
/** Secrets of two environments, whose keys are the same. */
const nodesOf = (count: number): ReadonlyArray<Node> =>
  Array.from({ length: count }, (_, index) => ({
    env: EnvName.make(envs[index % 2] ?? ""),
    key: SecretKey.make(`KEY_${index >> 1}`)
  }))

const edgesAmong = (nodes: ReadonlyArray<Node>, maxLength: number): fc.Arbitrary<ReadonlyArray<Edge>> =>
  fc.array(fc.record({ from: fc.constantFrom(...nodes), to: fc.constantFrom(...nodes) }), { maxLength, size: "max" })

const isSame = (one: Node, other: Node): boolean => one.env === other.env && one.key === other.key
const turned = (edges: ReadonlyArray<Edge>): ReadonlyArray<Edge> =>
  edges.map(({ from, to }) => ({ from: to, to: from }))

/** The secrets that ways of exactly so many references lead to. */
const after = (edges: ReadonlyArray<Edge>, start: Node, references: number): ReadonlyArray<Node> =>
  references === 0
    ? [start]
    : [
        ...new Set(after(edges, start, references - 1).flatMap((at) => edges.filter(({ from }) => isSame(from, at))))
      ].map(({ to }) => to)

/** The length of the longest way, no further than one reference more than allowed. */
const longest = (edges: ReadonlyArray<Edge>, start: Node): number => {
  let length = 0
  while (length <= maxReferenceDepth && after(edges, start, length + 1).length > 0) length++
  return length
}

/** The secrets that are reached by any way, by Warshall's algorithm. */
const closure = (nodes: ReadonlyArray<Node>, edges: ReadonlyArray<Edge>): ((from: Node, to: Node) => boolean) => {
  const table = nodes.map((from) => nodes.map((to) => edges.some((e) => isSame(e.from, from) && isSame(e.to, to))))
  nodes.forEach((_, by) =>
    nodes.forEach((_, from) =>
      nodes.forEach((_, to) => {
        const row = table[from]
        if (row?.[by] === true && table[by]?.[to] === true) row[to] = true
      })
    )
  )
  const indexOf = (node: Node): number => nodes.findIndex((other) => isSame(node, other))
  return (from, to) => table[indexOf(from)]?.[indexOf(to)] === true
}

/** The graph of some references, some of which are those of changed secrets. */
const split = (nodes: ReadonlyArray<Node>, edges: ReadonlyArray<Edge>, isChanged: (node: Node) => boolean) =>
  graphOf(
    edges.filter(({ from }) => !isChanged(from)),
    nodes
      .filter(isChanged)
      .map((node) => ({ from: node, targets: edges.filter(({ from }) => isSame(from, node)).map(({ to }) => to) }))
  )

describe("the graph of references", () => {
  it("leads from a secret to all that are reached in a direction, whichever references are changed ones", () => {
    const nodes = nodesOf(8)
    fc.assert(
      fc.property(edgesAmong(nodes, 14), fc.subarray([...nodes]), (edges, changed) => {
        const graph = split(nodes, edges, (node) => changed.includes(node))
        const leads = closure(nodes, edges)
        for (const start of nodes) {
          const others = nodes.filter((node) => !isSame(node, start))
          const ids = (found: ReadonlyArray<Node>) => found.map(nodeId).sort()
          assert.deepStrictEqual(
            ids(Effect.runSync(reachable(graph.down, start))),
            ids(others.filter((node) => leads(start, node)))
          )
          assert.deepStrictEqual(
            ids(Effect.runSync(reachable(graph.up, start))),
            ids(others.filter((node) => leads(node, start)))
          )
        }
      }),
      { numRuns: runs(500) }
    )
  })

  it("is sound for a secret exactly if no way through it is longer than allowed or endless", () => {
    const nodes = nodesOf(9)
    const seen = { sound: 0, wrong: 0 }
    fc.assert(
      fc.property(edgesAmong(nodes, 12), fc.constantFrom(...nodes), (edges, node) => {
        const isSound = longest(edges, node) + longest(turned(edges), node) <= maxReferenceDepth
        const found = checking(graphOf(edges, []))(node)
        assert.strictEqual(found === null, isSound)
        seen[isSound ? "sound" : "wrong"]++
        if (found?.wrong === "depth") assert.deepStrictEqual(found.at, node)
      }),
      { numRuns: runs(2_000) }
    )
    assert.isAbove(Math.min(seen.sound, seen.wrong), 0)
  })

  it("has the way of a cycle below a secret, each of whose steps is a reference", () => {
    // Fewer secrets than references may follow one another, so that no way is too long before it comes back.
    const nodes = nodesOf(maxReferenceDepth)
    fc.assert(
      fc.property(edgesAmong(nodes, 7), fc.constantFrom(...nodes), (edges, node) => {
        const leads = closure(nodes, edges)
        const isEndless = nodes.some((other) => leads(other, other) && (isSame(other, node) || leads(node, other)))
        const found = checking(
          graphOf(
            [],
            edges.map(({ from, to }) => ({ from, targets: [to] }))
          )
        )(node)
        assert.strictEqual(found?.wrong === "cycle", isEndless)
        if (found?.wrong !== "cycle") return
        const { way } = found
        assert.isAtLeast(way.length, 2)
        assert.deepStrictEqual(way.at(-1), way[0])
        assert.strictEqual(new Set(way.map(nodeId)).size, way.length - 1)
        for (const [index, to] of way.slice(1).entries()) {
          assert.isTrue(edges.some((edge) => isSame(edge.from, way[index] ?? to) && isSame(edge.to, to)))
        }
      }),
      { numRuns: runs(1_000) }
    )
  })

  it("is checked for one secret after another as for each of them alone", () => {
    const nodes = nodesOf(9)
    // Without cycles, and with long ways: each reference leads one or two secrets further.
    const forward = fc
      .array(fc.record({ at: fc.nat({ max: nodes.length - 2 }), by: fc.constantFrom(1, 2) }), {
        minLength: 8,
        maxLength: 24,
        size: "max"
      })
      .map((steps) =>
        steps.flatMap(({ at, by }) => {
          const [from, to] = [nodes[at], nodes[at + by]]
          return from === undefined || to === undefined ? [] : [{ from, to }]
        })
      )
    fc.assert(
      fc.property(forward, fc.shuffledSubarray([...nodes]), (edges, order) => {
        const check = checking(graphOf(edges, []))
        for (const node of order) {
          const isSound = longest(edges, node) + longest(turned(edges), node) <= maxReferenceDepth
          assert.deepStrictEqual(check(node), isSound ? null : { wrong: "depth", at: node })
        }
      }),
      { numRuns: runs(1_000) }
    )
  })
})
