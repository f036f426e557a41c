import { maxOverviewDue, type Overview } from "@coffer/domain/secrets/Overview"
import * as Effect from "effect/Effect"
import { Access, type Place } from "../../access/Access.js"
import { makeWaitingVotes } from "../../directory/requests/WaitingVotes.js"
import { Dues } from "../dues/Dues.js"
import { Approvals } from "../use/Approvals.js"

type Attention = Pick<Overview, "due" | "more_due" | "waiting">

/** Reads what in an organization needs the caller: by the right to each list, as the list itself would show it. */
export const makeAttention = Effect.gen(function* () {
  const access = yield* Access
  const approvals = yield* Approvals
  const dues = yield* Dues
  const waitingVotes = yield* makeWaitingVotes

  return Effect.fnUntraced(function* (place: Place<"project.list">) {
    const [listing, voting, deciding] = [
      access.beside(place, "due.list"),
      access.beside(place, "request.list"),
      access.beside(place, "approval.list")
    ]
    const due = listing === null ? null : yield* dues.list(listing, { limit: maxOverviewDue })
    const votes = voting === null ? 0 : yield* waitingVotes(voting)
    const decisions = deciding === null ? 0 : yield* approvals.countPending(deciding)
    const found: Attention = {
      ...(due !== null && { due: due.data, more_due: due.pagination.has_next }),
      ...((voting !== null || deciding !== null) && { waiting: votes + decisions })
    }
    return found
  })
})
