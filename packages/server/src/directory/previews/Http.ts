import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { ProjectPreviews } from "./ProjectPreviews.js"

export const PreviewsHttp = HttpApiBuilder.group(Api, "previews", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const previews = yield* ProjectPreviews
    return handlers
      .handle("get", ({ path }) => Effect.flatMap(access.project(path, "previews.read"), previews.get))
      .handle("set", ({ path, payload }) =>
        access.change(access.project(path, "previews.set"), (place) => previews.set(place, payload))
      )
      .handle("remove", ({ path }) => access.change(access.project(path, "previews.delete"), previews.remove))
  })
).pipe(Layer.provide(ProjectPreviews.Default))
