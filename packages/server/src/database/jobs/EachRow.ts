import type { OrgId } from "@coffer/domain/base/Ids"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { nextTick } from "../../base/EventLoop.js"
import { isLockTimeout } from "../../base/Reason.js"
import type { Transaction } from "../Database.js"
import { orgScope } from "../Scopes.js"
import { DatabaseBusy } from "../Unavailable.js"
import type { Fenced } from "./Lease.js"

/** How many rows one statement of a job reads. */
export const batchSize = 100

/** Whether a step found its organization busy, so that it is left to a later run. */
export const isBusy = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  return error instanceof DatabaseBusy || isLockTimeout(error)
}

/**
 * Runs a step of a job under the scope of an organization, whose changes lock the same rows in another order. Returns whether it
 * ran: it is left to a later run while the organization is busy, so that others do not wait. Null is a removed organization.
 */
export const inOrganization = (
  orgId: OrgId | null,
  step: Effect.Effect<void, never, Transaction>,
  fenced: Fenced
): Effect.Effect<boolean> =>
  Effect.as(fenced(step, orgId === null ? [] : [orgScope(orgId)]), true).pipe(
    Effect.catchSomeCause((cause) => (isBusy(cause) ? Option.some(Effect.succeed(false)) : Option.none()))
  )

/** Runs a step for each row that a statement finds, in a transaction of its own, until a batch is not full. */
export const eachRow = <Row extends { readonly org_id: OrgId | null }>(
  rows: Effect.Effect<ReadonlyArray<Row>>,
  step: (row: Row) => Effect.Effect<void, never, Transaction>,
  fenced: Fenced
): Effect.Effect<void> =>
  Effect.suspend(() => {
    // Each wait for a busy organization holds up the rows of the others: one is enough.
    const busy = new Set<OrgId | null>()
    const run = (row: Row) =>
      busy.has(row.org_id)
        ? Effect.succeed(false)
        : Effect.tap(inOrganization(row.org_id, step(row), fenced), (ran) =>
            Effect.sync(() => {
              if (!ran) busy.add(row.org_id)
            })
          )
    return Effect.gen(function* () {
      const found = yield* rows
      const ran = yield* Effect.forEach(found, (row) => Effect.zipLeft(run(row), nextTick))
      // Rows that were left are found again.
      return found.length === batchSize && ran.includes(true)
    }).pipe(Effect.repeat({ while: (hasMore) => hasMore }), Effect.asVoid)
  })
