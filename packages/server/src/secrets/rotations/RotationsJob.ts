import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Tenant } from "../../base/Tenant.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { Changes } from "../services/Changes.js"
import { Versions } from "../stored/Versions.js"
import { rotationsRepo } from "./Repo.js"
import { rotationsPaused } from "./RotationMetrics.js"
import { makeTurns } from "./RotationTurns.js"

const lookEvery = "1 second"
const rowsAtOnce = 100

/** Begins the turns that are due. Each has a fiber of its own: a slow database holds up no other. */
const renewing = Effect.gen(function* () {
  const repo = yield* rotationsRepo
  const { turn } = yield* makeTurns
  const slots = makeFairSemaphore(sharedBounds.renewals)
  const running = yield* FiberMap.make<string>()
  yield* Effect.addFinalizer(() => Metric.set(rotationsPaused, NaN))

  const round = Effect.gen(function* () {
    yield* Metric.set(rotationsPaused, (yield* repo.paused({})).count)
    for (const { id, org_id: name } of yield* repo.due({ limit: rowsAtOnce })) {
      const work = slots.inside(turn(id)).pipe(
        Effect.provideService(Tenant, { name }),
        Effect.catchAllCause((cause) =>
          isLeaseLost(cause)
            ? Effect.void
            : Effect.zipRight(Effect.logError("a turn of a rotation failed", cause), Effect.sleep("1 minute"))
        )
      )
      yield* FiberMap.run(running, id, work, { onlyIfMissing: true })
    }
  }).pipe(
    Effect.catchAllCause((cause) =>
      isLeaseLost(cause) ? Effect.void : Effect.logError("the job of rotations failed", cause)
    ),
    Effect.withTracerEnabled(false)
  )

  yield* round.pipe(Effect.zipRight(Effect.sleep(lookEvery)), Effect.forever, Effect.interruptible, Effect.forkScoped)
})

/** The turns of rotations, on one server of the database at a time. Its lease is longer than any transaction of a turn elsewhere. */
export const RotationsJob = onOneServer(
  { name: "rotations", lease: "30 seconds" },
  Layer.scopedDiscard(renewing).pipe(Layer.provide([Changes.Default, Versions.Default, DatabaseSlots.Default])),
  Effect.void
)
