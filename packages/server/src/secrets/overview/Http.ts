import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { Overviews } from "./Overviews.js"

export const OverviewHttp = HttpApiBuilder.group(Api, "overview", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const overviews = yield* Overviews
    return handlers.handle("show", ({ path, urlParams }) =>
      Effect.flatMap(access.org(path, "project.list"), (place) => overviews.show(place, urlParams))
    )
  })
).pipe(Layer.provide(Overviews.Default))
