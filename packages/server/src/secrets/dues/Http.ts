import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { Dues } from "./Dues.js"

export const DuesHttp = HttpApiBuilder.group(Api, "dues", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const dues = yield* Dues
    const { gated } = yield* GatedHandlers
    return handlers
      .handle(
        "update",
        gated("dues.update", ({ path, payload }) =>
          access.change(access.guarded(path, "secret.write"), (place) => dues.update(place, path.key, payload))
        )
      )
      .handle("list", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "due.list"), (place) => dues.list(place, urlParams))
      )
  })
).pipe(Layer.provide([Dues.Default, GatedHandlers.Default]))
