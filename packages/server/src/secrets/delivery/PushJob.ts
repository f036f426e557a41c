import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { rowsAtOnce, workWhenDue } from "../../database/jobs/DueWork.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { makeAutomaticPushes } from "./AutomaticPushes.js"
import { makeHourlyChecks } from "./HourlyChecks.js"
import { targetsFailing } from "./PushMetrics.js"
import { targetsRepo } from "./Repo.js"
import { Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

const pushing = Effect.gen(function* () {
  const repo = yield* targetsRepo
  const push = yield* makeAutomaticPushes
  const check = yield* makeHourlyChecks
  const slots = makeFairSemaphore(sharedBounds.pushTurns)
  yield* workWhenDue({ job: "pushes", slots, gauge: targetsFailing }, (begin) =>
    Effect.gen(function* () {
      for (const row of yield* repo.due({ limit: rowsAtOnce })) yield* begin(row, push(row.id))
      for (const row of yield* repo.dueChecks({ limit: rowsAtOnce })) yield* begin(row, check(row.id))
      return (yield* repo.failing({})).count
    })
  )
})

/** Pushes to targets by the server itself, on one server of the database at a time. */
export const PushJob = onOneServer(
  { name: "pushes", lease: "30 seconds" },
  Layer.scopedDiscard(pushing).pipe(Layer.provide([Targets.Default, TargetValues.Default, Outbound.Default])),
  Effect.void
)
