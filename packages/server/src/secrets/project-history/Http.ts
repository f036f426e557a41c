import { Api } from "@coffer/domain/Api"
import { ProjectRevision } from "@coffer/domain/secrets/ProjectRevision"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { ProjectHistory } from "./ProjectHistory.js"

// A revision may have thousands of keys.
const listed = longList(ProjectRevision, 1)

export const HistoryHttp = HttpApiBuilder.group(Api, "history", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const history = yield* ProjectHistory
    return handlers.handle("list", ({ path, urlParams }) =>
      Effect.flatMap(
        Effect.flatMap(access.project(path, "env.list"), (place) => history.list(place, urlParams)),
        listed
      )
    )
  })
).pipe(Layer.provide(ProjectHistory.Default))
