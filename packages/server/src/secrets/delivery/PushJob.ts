import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { Tenant } from "../../base/Tenant.js"
import { isLeaseLost } from "../../database/jobs/Lease.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { makeAutomaticPushes } from "./AutomaticPushes.js"
import { targetsFailing } from "./PushMetrics.js"
import { targetsRepo } from "./Repo.js"
import { Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

const lookEvery = "1 second"
const rowsAtOnce = 100

/** Begins the pushes that are due. Each has a fiber of its own: a slow platform holds up no other. */
const pushing = Effect.gen(function* () {
  const repo = yield* targetsRepo
  const push = yield* makeAutomaticPushes
  const slots = makeFairSemaphore(sharedBounds.pushTurns)
  const running = yield* FiberMap.make<string>()
  yield* Effect.addFinalizer(() => Metric.set(targetsFailing, NaN))

  const round = Effect.gen(function* () {
    yield* Metric.set(targetsFailing, (yield* repo.failing({})).count)
    for (const { id, org_id: name } of yield* repo.due({ limit: rowsAtOnce })) {
      const work = slots.inside(push(id)).pipe(
        Effect.provideService(Tenant, { name }),
        Effect.catchAllCause((cause) =>
          isLeaseLost(cause)
            ? Effect.void
            : Effect.zipRight(Effect.logError("a push by the server itself failed", cause), Effect.sleep("1 minute"))
        )
      )
      yield* FiberMap.run(running, id, work, { onlyIfMissing: true })
    }
  }).pipe(
    Effect.catchAllCause((cause) =>
      isLeaseLost(cause) ? Effect.void : Effect.logError("the job of pushes failed", cause)
    ),
    Effect.withTracerEnabled(false)
  )

  yield* round.pipe(Effect.zipRight(Effect.sleep(lookEvery)), Effect.forever, Effect.interruptible, Effect.forkScoped)
})

/** Pushes to targets by the server itself, on one server of the database at a time. */
export const PushJob = onOneServer(
  { name: "pushes", lease: "30 seconds" },
  Layer.scopedDiscard(pushing).pipe(Layer.provide([Targets.Default, TargetValues.Default, Outbound.Default])),
  Effect.void
)
