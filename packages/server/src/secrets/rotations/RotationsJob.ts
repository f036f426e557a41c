import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import { rowsAtOnce, workWhenDue } from "../../database/jobs/DueWork.js"
import { onOneServer } from "../../database/jobs/OnOneServer.js"
import { DatabaseSlots } from "../connections/DatabaseSlots.js"
import { Changes } from "../services/Changes.js"
import { Versions } from "../stored/Versions.js"
import { rotationsRepo } from "./Repo.js"
import { rotationsPaused } from "./RotationMetrics.js"
import { makeTurns } from "./RotationTurns.js"

const renewing = Effect.gen(function* () {
  const repo = yield* rotationsRepo
  const { turn } = yield* makeTurns
  const slots = makeFairSemaphore(sharedBounds.renewals)
  yield* workWhenDue({ job: "rotations", slots, gauge: rotationsPaused }, (begin) =>
    Effect.gen(function* () {
      for (const row of yield* repo.due({ limit: rowsAtOnce })) yield* begin(row, turn(row.id))
      return (yield* repo.paused({})).count
    })
  )
})

/** The turns of rotations, on one server of the database at a time. Its lease is longer than any transaction of a turn elsewhere. */
export const RotationsJob = onOneServer(
  { name: "rotations", lease: "30 seconds" },
  Layer.scopedDiscard(renewing).pipe(Layer.provide([Changes.Default, Versions.Default, DatabaseSlots.Default])),
  Effect.void
)
