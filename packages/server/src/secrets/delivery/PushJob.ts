import type { TargetId } from "@coffer/domain/base/Ids"
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
import { makeHourlyChecks } from "./HourlyChecks.js"
import { targetsFailing } from "./PushMetrics.js"
import { targetsRepo } from "./Repo.js"
import { Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

const lookEvery = "1 second"
const rowsAtOnce = 100

/** Begins the pushes and checks that are due. Each has a fiber of its own: a slow platform holds up no other. */
const pushing = Effect.gen(function* () {
  const repo = yield* targetsRepo
  const push = yield* makeAutomaticPushes
  const check = yield* makeHourlyChecks
  const slots = makeFairSemaphore(sharedBounds.pushTurns)
  const running = yield* FiberMap.make<string>()
  yield* Effect.addFinalizer(() => Metric.set(targetsFailing, NaN))

  /** Begins the work at a target, unless another one goes on there. */
  const begin = (id: TargetId, name: string, work: Effect.Effect<void>) =>
    FiberMap.run(
      running,
      id,
      slots.inside(work).pipe(
        Effect.provideService(Tenant, { name }),
        Effect.catchAllCause((cause) =>
          isLeaseLost(cause)
            ? Effect.void
            : Effect.zipRight(Effect.logError("a push by the server itself failed", cause), Effect.sleep("1 minute"))
        )
      ),
      { onlyIfMissing: true }
    )

  const round = Effect.gen(function* () {
    yield* Metric.set(targetsFailing, (yield* repo.failing({})).count)
    for (const { id, org_id } of yield* repo.due({ limit: rowsAtOnce })) yield* begin(id, org_id, push(id))
    for (const { id, org_id } of yield* repo.dueChecks({ limit: rowsAtOnce })) yield* begin(id, org_id, check(id))
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
