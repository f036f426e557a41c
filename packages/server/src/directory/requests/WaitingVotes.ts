import type { RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { type RequestRow, requestsRepo } from "./Repo.js"
import { requestOf } from "./RequestViews.js"

const rowsAtOnce = 200
/** How many pending requests are looked at. An environment has a limited number of them, and an organization many environments. */
const maxRows = 1_000

/** Counts the pending requests of an organization that the caller may vote on. */
export const makeWaitingVotes = Effect.map(requestsRepo, (repo) =>
  Effect.fnUntraced(function* ({ actor, org, role }: Place<"request.list">) {
    let count = 0
    let before: RequestId | null = null
    for (let seen = 0; seen < maxRows; seen += rowsAtOnce) {
      const rows: ReadonlyArray<RequestRow> = yield* repo.page({
        ...{ orgId: org.id, kind: null, state: "pending", before, limit: rowsAtOnce }
      })
      count += rows.filter((row) => requestOf(actor, role, row).may_vote).length
      const last = rows.at(-1)
      if (last === undefined || rows.length < rowsAtOnce) break
      before = last.id
    }
    return count
  })
)
