import type { UseWidens } from "@coffer/domain/Errors"
import type { EnvId, SecretId } from "@coffer/domain/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { Effect } from "effect"
import type { Place } from "../access/Access.js"
import { forEachInSlices } from "../EventLoop.js"
import { SecretsRepo } from "../secrets/Repo.js"
import { type Move, Widening } from "../use/Widening.js"
import { type Graph, type Node, nodeId, reachable } from "./Graph.js"

/** A value that a change moves to a key of the place from another secret or version. */
export interface Arrival {
  readonly key: SecretKey
  readonly from: { readonly id: SecretId; readonly version: number }
}

/** Refuses that references carry values under wider use rules for accounts that may not read them. */
export class Flows extends Effect.Service<Flows>()("@coffer/server/Flows", {
  effect: Effect.gen(function* () {
    const secrets = yield* SecretsRepo
    const widening = yield* Widening

    /** Checks what arrives at keys, and what new references bring, against the rules of everything that refers to them. */
    const check = Effect.fnUntraced(function* (
      place: Place<"secret.write">,
      graph: Graph,
      envIds: ReadonlyMap<EnvName, EnvId>,
      written: {
        readonly arriving: ReadonlyArray<Arrival>
        /** The keys that become references. */
        readonly references: ReadonlyArray<SecretKey>
      }
    ): Effect.fn.Return<void, UseWidens> {
      const known = new Map<string, { readonly id: SecretId; readonly version: number } | undefined>()
      const found = (node: Node) =>
        Effect.gen(function* () {
          const id = nodeId(node)
          if (known.has(id)) return known.get(id)
          const envId = envIds.get(node.env)
          const row = envId === undefined ? undefined : yield* secrets.findLive({ envId, key: node.key })
          known.set(id, row)
          return row
        })
      const allFound = (nodes: ReadonlyArray<Node>) =>
        Effect.map(
          forEachInSlices(nodes, (node) => Effect.map(found(node), (row) => ({ ...node, row }))),
          (rows) =>
            rows.flatMap(({ key, row }) => (row === undefined ? [] : [{ key, id: row.id, version: row.version }]))
        )

      const nodeOf = (key: SecretKey): Node => ({ env: place.env.name, key })
      const moves: Array<Move> = []
      for (const { from, key } of written.arriving) {
        const above = yield* allFound(reachable(graph.up, nodeOf(key)))
        moves.push(...above.map((to) => ({ key: to.key, from, to: to.id })))
      }
      for (const key of written.references) {
        const below = yield* allFound(reachable(graph.down, nodeOf(key)))
        const above = yield* allFound([nodeOf(key), ...reachable(graph.up, nodeOf(key))])
        for (const to of above) moves.push(...below.map((from) => ({ key: to.key, from, to: to.id })))
      }
      yield* widening.check(place, moves)
    })

    return { check } as const
  }),
  dependencies: [SecretsRepo.Default, Widening.Default]
}) {}
