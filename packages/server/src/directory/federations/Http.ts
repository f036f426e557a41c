import { Api } from "@coffer/domain/Api"
import { Federation } from "@coffer/domain/directory/Federation"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Federations } from "./Federations.js"
import { TokenTest } from "./TokenTest.js"

const listed = longList(Federation)

export const FederationsHttp = HttpApiBuilder.group(Api, "federations", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const federations = yield* Federations
    const trials = yield* TokenTest
    return handlers
      .handle("create", ({ path, payload }) =>
        Effect.zipRight(
          federations.vet(payload),
          access.change(access.org(path, "federation.create"), (place) =>
            federations.create(place, path.sa_id, payload)
          )
        )
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(
          Effect.flatMap(access.org(path, "federation.list"), (place) => federations.list(place, path.sa_id)),
          (data) => listed({ data })
        )
      )
      .handle("try", ({ path, payload }) =>
        Effect.flatMap(access.org(path, "federation.create"), (place) =>
          trials.attempt(place, path.sa_id, payload.token)
        )
      )
      .handle("revoke", ({ path }) =>
        access.change(access.org(path, "federation.revoke"), (place) =>
          federations.revoke(place, path.sa_id, path.federation_id)
        )
      )
  })
).pipe(Layer.provide([Federations.Default, TokenTest.Default]))
