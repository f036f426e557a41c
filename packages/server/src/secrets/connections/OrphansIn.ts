import { LeaseId } from "@coffer/domain/base/Ids"
import type { Orphan } from "@coffer/domain/secrets/Connection"
import * as Effect from "effect/Effect"
import { query } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"
import { type Kind, leaseOf, type Target } from "./Kind.js"

/** How many orphans of a database are listed at most. */
const mostListed = 1_000

/** Whether a lease of any environment has the user: the users of a database server may be those of several connections. */
export const leaseById = Effect.map(
  query,
  ({ first }) => first(idRow(LeaseId))`SELECT id FROM leases WHERE id = ${"id"}`
)

/** Lists the users that leases made and no lease has. */
export const makeOrphans = Effect.map(leaseById, (find) =>
  Effect.fnUntraced(function* ({ leased }: Kind, target: Target) {
    const found: Array<Orphan> = []
    for (const username of yield* leased(target)) {
      const lease_id = leaseOf(username)
      if (lease_id !== null && (yield* find({ id: lease_id })) === undefined) found.push({ lease_id, username })
    }
    if (found.length === 0) return found
    // A row goes once its user has gone: the users that are there after the rows were read are without one.
    const still = new Set(yield* leased(target))
    return found.filter(({ username }) => still.has(username)).slice(0, mostListed)
  })
)
