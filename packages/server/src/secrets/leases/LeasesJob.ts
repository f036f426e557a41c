import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Tenant } from "../../base/Tenant.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { Versions } from "../stored/Versions.js"
import { makeLeaseEnds } from "./LeaseEnds.js"
import { leasesLive } from "./LeaseMetrics.js"
import { makeLostRights } from "./LostRights.js"
import { leasesRepo } from "./Repo.js"

const lookEvery = "1 second"
const rowsAtOnce = 200
/** How many times a round looks at some holders: 1,000 leases, and others in the next round. */
const mostLooks = 20

/** Ends leases, and removes their users. Each has a fiber of its own: a slow database holds up no other. */
const ending = Effect.gen(function* () {
  const repo = yield* leasesRepo
  const { end, endLost } = yield* makeLeaseEnds
  const lostRights = yield* makeLostRights
  const slots = makeFairSemaphore(sharedBounds.leaseRemovals)
  const running = yield* FiberMap.make<string>()
  yield* Effect.addFinalizer(() => Metric.set(leasesLive, NaN))
  let after = ""

  const lookAtHolders = Effect.gen(function* () {
    for (let looks = 0; looks < mostLooks; looks++) {
      const { lost, next } = yield* lostRights(after)
      yield* Effect.forEach(lost, endLost, { discard: true })
      after = next ?? ""
      if (next === null) return
      yield* Effect.yieldNow()
    }
  })

  const round = Effect.gen(function* () {
    const { count } = yield* repo.countAll({})
    yield* Metric.set(leasesLive, count)
    if (count === 0) return
    yield* lookAtHolders
    for (const { id, org_id: name } of yield* repo.due({ limit: rowsAtOnce })) {
      const work = slots.inside(end(id)).pipe(
        Effect.provideService(Tenant, { name }),
        Effect.catchAllCause((cause) =>
          isLeaseLost(cause)
            ? Effect.void
            : Effect.zipRight(Effect.logError("the end of a lease failed", cause), Effect.sleep("1 minute"))
        )
      )
      yield* FiberMap.run(running, id, work, { onlyIfMissing: true })
    }
  }).pipe(
    Effect.catchAllCause((cause) =>
      isLeaseLost(cause) ? Effect.void : Effect.logError("the job of leases failed", cause)
    ),
    Effect.withTracerEnabled(false)
  )

  yield* round.pipe(Effect.zipRight(Effect.sleep(lookEvery)), Effect.forever, Effect.interruptible, Effect.forkScoped)
})

/** The ends of leases, on one server of the database at a time. */
export const LeasesJob = onOneServer(
  { name: "leases", lease: "30 seconds" },
  Layer.scopedDiscard(ending).pipe(Layer.provide([Authenticator.Default, Versions.Default, DatabaseSlots.Default])),
  Effect.void
)
