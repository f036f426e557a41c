import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { rowsAtOnce, workWhenDue } from "../../database/jobs/DueWork.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { Versions } from "../stored/Versions.js"
import { makeLeaseEnds } from "./LeaseEnds.js"
import { connectionsRepo } from "../connections/Repo.js"
import { leaseOrphans, leasesLive } from "./LeaseMetrics.js"
import { makeLostRights } from "./LostRights.js"
import { makeOrphanLooks } from "./Orphans.js"
import { leasesRepo } from "./Repo.js"

/** How many times a look reads some holders: 1,000 leases, and others in the next look. */
const mostReads = 20

/** How many databases a look begins to ask for users that no lease has. */
const looksAtOnce = 20

const ending = Effect.gen(function* () {
  const repo = yield* leasesRepo
  const { end, endLost } = yield* makeLeaseEnds
  const lostRights = yield* makeLostRights
  const connections = yield* connectionsRepo
  const look = yield* makeOrphanLooks
  const slots = makeFairSemaphore(sharedBounds.leaseRemovals)
  let after = ""

  const endOfLostHolders = Effect.gen(function* () {
    for (let reads = 0; reads < mostReads; reads++) {
      const { lost, next } = yield* lostRights(after)
      yield* Effect.forEach(lost, endLost, { discard: true })
      after = next ?? ""
      if (next === null) return
      yield* Effect.yieldNow()
    }
  })

  yield* Effect.addFinalizer(() => Metric.set(leaseOrphans, NaN))
  yield* workWhenDue({ job: "leases", slots, gauge: leasesLive }, (begin) =>
    Effect.gen(function* () {
      yield* Metric.set(leaseOrphans, (yield* connections.allOrphans({})).total)
      for (const row of yield* connections.due({ limit: looksAtOnce })) yield* begin(row, look(row))
      const { count } = yield* repo.countAll({})
      if (count === 0) return count
      yield* endOfLostHolders
      for (const row of yield* repo.due({ limit: rowsAtOnce })) yield* begin(row, end(row.id))
      return count
    })
  )
})

/** The ends of leases, on one server of the database at a time. */
export const LeasesJob = onOneServer(
  { name: "leases", lease: "30 seconds" },
  Layer.scopedDiscard(ending).pipe(Layer.provide([Authenticator.Default, Versions.Default, DatabaseSlots.Default])),
  Effect.void
)
