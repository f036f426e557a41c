import type { EnvPath } from "@coffer/domain/api/Paths"
import type { TargetName } from "@coffer/domain/base/Names"
import type { TargetCheck } from "@coffer/domain/secrets/Target"
import * as Effect from "effect/Effect"
import { Access } from "../../access/Access.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import { checkMillis } from "./CheckEvery.js"
import { driftOf } from "./Drift.js"
import { makePushSteps } from "./PushSteps.js"
import { toCallers } from "./Pushes.js"
import { targetsRepo } from "./Repo.js"
import { Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

/** Compares what was pushed with what a platform has. */
export class TargetChecks extends Effect.Service<TargetChecks>()("@coffer/server/TargetChecks", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const repo = yield* targetsRepo
    const { prepare } = yield* makePushSteps

    const check = method("Checks.check", function* (path: EnvPath, name: TargetName) {
      const entering = access.env(path, "target.push")
      const { prepared } = yield* prepare(yield* entering, name, false).pipe(Effect.catchTags(toCallers(name)))
      const { keys, state } = driftOf(prepared)
      const checked_at = yield* now
      yield* access.change(entering, () =>
        repo.checked({ id: prepared.target.id, state, now: checked_at, millis: checkMillis })
      )
      const found: TargetCheck = { target: name, state, checked_at, data: keys }
      return found
    })

    return { check } as const
  }),
  dependencies: [Targets.Default, TargetValues.Default, Outbound.Default]
}) {}
