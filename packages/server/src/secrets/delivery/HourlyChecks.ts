import type { TargetId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { now } from "../../base/Time.js"
import { Fence } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import { checkMillis } from "./CheckEvery.js"
import { driftOf } from "./Drift.js"
import { makePushers } from "./Pushers.js"
import { makePushSteps } from "./PushSteps.js"
import { targetsRepo } from "./Repo.js"

/** Checks of targets by the server itself. What differs is pushed again where the target says so, by the next look of the job. */
export const makeHourlyChecks = Effect.gen(function* () {
  const repo = yield* targetsRepo
  const fenced = yield* Fence
  const enter = yield* makePushers
  const { prepare } = yield* makePushSteps

  const stateOf = (id: TargetId) =>
    Effect.flatMap(enter(id), ({ place, row }) =>
      Effect.map(prepare(place, row.name, false), ({ prepared }) => driftOf(prepared).state)
    ).pipe(
      Effect.scoped,
      // The platform is down, or nobody may ask it: nothing is known then.
      Effect.orElseSucceed(() => "unknown" as const)
    )

  return (id: TargetId): Effect.Effect<void> =>
    Effect.gen(function* () {
      const row = yield* repo.placed({ id })
      if (row === undefined) return
      const state = yield* stateOf(id)
      const millis = Math.round((yield* Random.nextRange(0.9, 1.1)) * checkMillis)
      yield* fenced(
        Effect.gen(function* () {
          yield* repo.checked({ id, state, now: yield* now, millis })
          const differs = state === "changed there" || state === "missing there"
          if (differs && row.automatic === "repair") yield* repo.forgetSources({ id })
        }),
        [orgScope(row.org_id)]
      )
    })
})
