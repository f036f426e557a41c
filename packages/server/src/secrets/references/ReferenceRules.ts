import { mayReveal } from "@coffer/domain/access/Actor"
import type { UseWidens } from "@coffer/domain/errors/Errors"
import type { EnvId, SecretId } from "@coffer/domain/base/Ids"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { forEachInSlices } from "../../base/EventLoop.js"
import { secretsRepo } from "../stored/Repo.js"
import { type Move, Widening } from "../use-rules/Widening.js"
import { type Graph, type Node, nodeId, reachable } from "./Graph.js"

/** A value that a change moves to a key of the place from another secret or version. */
export interface Arrival {
  readonly key: SecretKey
  readonly from: { readonly id: SecretId; readonly version: number }
}

/** Refuses that references carry values under wider use rules for accounts that may not read them. */
export class ReferenceRules extends Effect.Service<ReferenceRules>()("@coffer/server/ReferenceRules", {
  effect: Effect.gen(function* () {
    const secrets = yield* secretsRepo
    const widening = yield* Widening

    /** Checks moved values and new references against the use rules of all dependents. */
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
      if (mayReveal(place.actor)) return
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

      /** The secrets with use rules among these: few, so that they can be paired with everything below a reference. */
      const ruled = (nodes: ReadonlyArray<Node>) =>
        Effect.flatMap(allFound(nodes), (found) => Effect.filter(found, ({ id }) => widening.isRuled(id)))

      const nodeOf = (key: SecretKey): Node => ({ env: place.env.name, key })
      for (const { from, key } of written.arriving) {
        const above = yield* ruled(yield* reachable(graph.up, nodeOf(key)))
        yield* widening.check(
          place,
          above.map((to) => ({ key: to.key, from, to: to.id }))
        )
      }
      for (const key of written.references) {
        const above = yield* ruled([nodeOf(key), ...(yield* reachable(graph.up, nodeOf(key)))])
        const below = above.length === 0 ? [] : yield* allFound(yield* reachable(graph.down, nodeOf(key)))
        for (const to of above) {
          yield* widening.check(
            place,
            below.map((from): Move => ({ key: to.key, from, to: to.id }))
          )
        }
      }
    })

    return { check } as const
  }),
  dependencies: [Widening.Default]
}) {}
