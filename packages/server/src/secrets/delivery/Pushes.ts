import { CurrentCaller } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { TargetName } from "@coffer/domain/base/Names"
import { Conflict, UpstreamFailed } from "@coffer/domain/errors/Errors"
import type { PushResult, TargetPlan } from "@coffer/domain/secrets/Target"
import * as Effect from "effect/Effect"
import { Access } from "../../access/Access.js"
import { Outbound } from "../../base/outbound/Outbound.js"
import { method } from "../../base/tracing/Traced.js"
import { Database } from "../../database/Database.js"
import { fencedByNothing } from "../../database/jobs/Lease.js"
import type { PlatformFailed } from "./PlatformFailed.js"
import { changedMeanwhile, makePushSteps, type NotBegun } from "./PushSteps.js"
import { makeSending } from "./Sending.js"
import { Targets } from "./Targets.js"
import { TargetValues } from "./TargetValues.js"

export interface PlanRequest {
  readonly take_over?: boolean
}

/** The errors that callers get for a push that failed. */
export const toCallers = (name: TargetName) => ({
  PlatformFailed: ({ reason }: PlatformFailed) => new UpstreamFailed({ message: `target ${name}: ${reason}` }),
  NotBegun: ({ message }: NotBegun) => new Conflict({ message })
})

/** Compares environments with their targets, and pushes secrets there. */
export class Pushes extends Effect.Service<Pushes>()("@coffer/server/Pushes", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const { begin, prepare } = yield* makePushSteps
    const send = yield* makeSending(fencedByNothing(yield* Database))

    const plan = method("Pushes.plan", function* (path: EnvPath, name: TargetName, request: PlanRequest) {
      const place = yield* access.env(path, "target.push")
      const { planned, prepared } = yield* prepare(place, name, request.take_over === true).pipe(
        Effect.catchTags(toCallers(name))
      )
      const made: TargetPlan = { target: name, revision: prepared.revision, plan: planned, data: prepared.plan.changes }
      return made
    })

    const pushed = Effect.fnUntraced(function* (
      path: EnvPath,
      name: TargetName,
      request: PlanRequest & { readonly plan: string }
    ) {
      const entering = access.env(path, "target.push")
      const place = yield* entering
      const { passed, planned, prepared } = yield* prepare(place, name, request.take_over === true)
      if (planned !== request.plan) return yield* changedMeanwhile(name)
      const begun = yield* access.change(entering, (inside) => begin(inside, prepared, passed))
      const caller = yield* CurrentCaller
      const stillMay = Effect.match(
        access.change(entering, () => Effect.void),
        {
          onFailure: () => false,
          onSuccess: () => true
        }
      ).pipe(Effect.provideService(CurrentCaller, caller))
      const result: PushResult = {
        target: name,
        revision: prepared.revision,
        ...(yield* send(place, prepared, { ...begun, stillMay }))
      }
      return result
    })

    const push = method(
      "Pushes.push",
      function* (path: EnvPath, name: TargetName, request: PlanRequest & { readonly plan: string }) {
        return yield* pushed(path, name, request).pipe(Effect.catchTags(toCallers(name)))
      }
    )

    return { plan, push } as const
  }),
  dependencies: [Targets.Default, TargetValues.Default, Outbound.Default]
}) {}
