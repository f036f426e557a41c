import { Api } from "@coffer/domain/Api"
import { Rotation } from "@coffer/domain/secrets/Rotation"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { longList } from "../../http/LongList.js"
import { Rotations } from "./Rotations.js"

const listed = longList(Rotation)

export const RotationsHttp = HttpApiBuilder.group(Api, "rotations", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const rotations = yield* Rotations
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "rotation.list"), rotations.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.env(path, "rotation.list"), (place) => rotations.get(place, path.rotation_name))
      )
      .handle(
        "create",
        gated("rotations.create", ({ path, payload }) =>
          access.change(access.guarded(path, "rotation.create"), (place) => rotations.create(place, payload))
        )
      )
      .handle(
        "update",
        gated("rotations.update", ({ path, payload }) =>
          access.change(access.guarded(path, "rotation.update"), (place) =>
            rotations.update(place, path.rotation_name, payload)
          )
        )
      )
      .handle(
        "delete",
        gated("rotations.delete", ({ path }) =>
          access.change(access.guarded(path, "rotation.delete"), (place) => rotations.remove(place, path.rotation_name))
        )
      )
      .handle("run", ({ path }) =>
        access.change(access.env(path, "rotation.run"), (place) => rotations.run(place, path.rotation_name))
      )
  })
).pipe(Layer.provide([Rotations.Default, GatedHandlers.Default]))
