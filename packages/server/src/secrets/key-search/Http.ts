import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { KeySearch } from "./KeySearch.js"

export const KeysHttp = HttpApiBuilder.group(Api, "keys", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const keySearch = yield* KeySearch
    return handlers.handle("find", ({ path, urlParams }) =>
      Effect.flatMap(access.org(path, "key.find"), (place) => keySearch.find(place, urlParams))
    )
  })
).pipe(Layer.provide(KeySearch.Default))
