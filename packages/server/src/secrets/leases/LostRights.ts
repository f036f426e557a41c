import type { LeaseId, OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { decide, type Subject } from "../../access/place/Decisions.js"
import { grantsOf } from "../../access/place/PlaceRow.js"
import { now } from "../../base/Time.js"
import { type HolderRow, leaseHolders } from "./LeaseHolders.js"

/** A lease whose holder may not have it any more. */
export interface LostLease {
  readonly id: LeaseId
  readonly orgId: OrgId
  readonly reason: string
}

const rowsAtOnce = 50

/**
 * Finds leases whose holders have lost the right, or the credential. It is decided from the rows that give the right, as each
 * request's is: whatever takes one away, now or in later releases, ends the lease.
 */
export const makeLostRights = Effect.gen(function* () {
  const holders = yield* leaseHolders
  const { delegate } = yield* Authenticator

  /** The holder, as `Decisions` needs it; a reason if it may do nothing any more. */
  const subjectOf = (row: HolderRow): Effect.Effect<Subject | string> => {
    const grants = grantsOf(row)
    if (row.actor_type === "service_account") {
      if (row.reveal === null) return Effect.succeed("its account, key or federation has ended")
      if (row.own_project_id !== null && row.own_project_id !== row.project_id) {
        return Effect.succeed("its account is of another project")
      }
      const account = { scoped: row.own_project_id !== null, reveal: row.reveal === 1 }
      return Effect.succeed({ superadmin: false, role: null, account, grants })
    }
    if (row.superadmin === null) return Effect.succeed("its holder was disabled")
    const person = { superadmin: row.superadmin === 1, role: row.role, account: null, grants }
    if (row.delegation_id === null) return Effect.succeed(person)
    return Effect.map(Effect.option(delegate(row.delegation_id)), (found) =>
      Option.match(found, {
        onNone: () => "its delegation has ended",
        onSome: ({ actor: { delegation } }) =>
          delegation === null || delegation.keys !== null
            ? "its delegation is limited to keys"
            : { ...person, delegation }
      })
    )
  }

  const reasonOf = (row: HolderRow) =>
    Effect.map(subjectOf(row), (subject): string | null => {
      const { env, org, project } = row
      if (org === null || project === null || env === null) return "its environment was removed"
      if (typeof subject === "string") return subject
      return decide("lease.create", subject, { org, project, env }).allowed
        ? null
        : "its holder may not read here any more"
    })

  /** Looks at some leases behind an id. Returns those that are lost, and the id behind which others may be. */
  return Effect.fnUntraced(function* (after: string) {
    const rows = yield* holders({ after, limit: rowsAtOnce, now: yield* now })
    const lost: Array<LostLease> = []
    for (const row of rows) {
      const reason = yield* reasonOf(row)
      if (reason !== null) lost.push({ id: row.id, orgId: row.org_id, reason })
    }
    return { lost, next: rows.length < rowsAtOnce ? null : (rows.at(-1)?.id ?? null) }
  })
})
