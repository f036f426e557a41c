import { Api } from "@coffer/domain/Api"
import { Target } from "@coffer/domain/secrets/Target"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { longList } from "../../http/LongList.js"
import { TargetChecks } from "./TargetChecks.js"
import { Pushes } from "./Pushes.js"
import { Targets } from "./Targets.js"

const listed = longList(Target)

export const TargetsHttp = HttpApiBuilder.group(Api, "targets", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const targets = yield* Targets
    const pushes = yield* Pushes
    const checks = yield* TargetChecks
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "target.list"), targets.list), (data) => listed({ data }))
      )
      .handle(
        "create",
        gated("targets.create", ({ path, payload }) =>
          access.change(access.guarded(path, "target.create"), (place) => targets.create(place, payload))
        )
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.env(path, "target.list"), (place) => targets.get(place, path.target_name))
      )
      .handle(
        "update",
        gated("targets.update", ({ path, payload }) =>
          access.change(access.guarded(path, "target.update"), (place) =>
            targets.update(place, path.target_name, payload)
          )
        )
      )
      .handle(
        "delete",
        gated("targets.delete", ({ path }) =>
          access.change(access.guarded(path, "target.delete"), (place) => targets.remove(place, path.target_name))
        )
      )
      .handle("plan", ({ path, payload }) => pushes.plan(path, path.target_name, payload))
      .handle("check", ({ path }) => checks.check(path, path.target_name))
      .handle("push", ({ path, payload }) => pushes.push(path, path.target_name, payload))
  })
).pipe(Layer.provide([Targets.Default, Pushes.Default, TargetChecks.Default, GatedHandlers.Default]))
