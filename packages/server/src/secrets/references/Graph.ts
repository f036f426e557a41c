import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { maxReferenceDepth } from "@coffer/domain/secrets/Reference"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

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

/**
 * Walks level by level to everything that can be reached, each once, and returns it in this order. `visited` are the ids of earlier
 * walks, which are skipped; at most `levels` are walked.
 */
export const walk = Effect.fnUntraced(function* <N, E, R>(
  start: Iterable<N>,
  idOf: (node: N) => string,
  next: (level: ReadonlyArray<N>) => Effect.Effect<Iterable<N>, E, R>,
  { levels = Infinity, visited = new Set() }: { readonly levels?: number; readonly visited?: Set<string> } = {}
): Effect.fn.Return<ReadonlyArray<N>, E, R> {
  const found: Array<N> = []
  const fresh = (nodes: Iterable<N>): ReadonlyArray<N> => {
    const some = []
    for (const node of nodes) {
      const id = idOf(node)
      if (visited.has(id)) continue
      visited.add(id)
      some.push(node)
      found.push(node)
    }
    return some
  }
  let level = fresh(start)
  for (let left = levels; left > 0 && level.length > 0; left--) level = fresh(yield* next(level))
  return found
})

/** Everything that can be reached from a secret in one direction, without the secret. */
export const reachable = (map: ReadonlyMap<string, ReadonlyArray<Node>>, start: Node) =>
  Effect.map(
    walk([start], nodeId, (level) => Effect.succeed(level.flatMap((node) => map.get(nodeId(node)) ?? []))),
    ([_start, ...others]) => others
  )

/** The problem with a way. */
type Stop = { readonly wrong: "cycle"; readonly way: ReadonlyArray<Node> } | { readonly wrong: "depth" }

/**
 * Returns the function that works a secret out from those that it leads to, never further than references may reach. Results are
 * remembered. Failures are not, because they depend on the way.
 */
export const folding = <A, E>(
  work: (node: Node, of: (next: Node) => Either.Either<A, E>) => Either.Either<A, E>,
  stopped: (stop: Stop) => E
) => {
  const known = new Map<string, A>()
  const of = (node: Node, way: ReadonlyArray<Node>): Either.Either<A, E> => {
    const id = nodeId(node)
    const begun = way.findIndex((passed) => nodeId(passed) === id)
    if (begun >= 0) return Either.left(stopped({ wrong: "cycle", way: [...way.slice(begun), node] }))
    if (way.length > maxReferenceDepth) return Either.left(stopped({ wrong: "depth" }))
    const before = known.get(id)
    if (before !== undefined) return Either.right(before)
    const result = work(node, (next) => of(next, [...way, node]))
    if (Either.isRight(result)) known.set(id, result.right)
    return result
  }
  return of
}

/** The problem with the references of a changed secret. */
export type Wrong = Exclude<Stop, { readonly wrong: "depth" }> | { readonly wrong: "depth"; readonly at: Node }

/** Returns the function that works out the length of the longest way from a secret. */
const lengthIn = (map: ReadonlyMap<string, ReadonlyArray<Node>>) =>
  folding<number, Stop>(
    (node, of) => {
      let length = 0
      for (const next of map.get(nodeId(node)) ?? []) {
        const further = of(next)
        if (Either.isLeft(further)) return further
        length = Math.max(length, 1 + further.right)
      }
      return Either.right(length)
    },
    (stop) => stop
  )

/**
 * Returns the function that checks a changed secret: no way through it may come back to it, or have more references than
 * allowed.
 */
export const checking = ({ down, up }: Graph): ((node: Node) => Wrong | null) => {
  const lengthOf = { below: lengthIn(down), above: lengthIn(up) }
  return (node) => {
    const below = lengthOf.below(node, [])
    if (Either.isLeft(below) && below.left.wrong === "cycle") return below.left
    const above = lengthOf.above(node, [])
    const isShort = Either.isRight(below) && Either.isRight(above) && below.right + above.right <= maxReferenceDepth
    return isShort ? null : { wrong: "depth", at: node }
  }
}
