import { CurrentActor } from "@coffer/domain/Actor"
import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { serving } from "../http/Calls.js"
import { Organizations } from "./Organizations.js"

export const OrganizationsHttp = HttpApiBuilder.group(Api, "organizations", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const organizations = yield* Organizations
    return yield* handlers
      .handle("create", ({ payload }) =>
        Effect.flatMap(access.founder(), (founder) => organizations.create(founder, payload.name))
      )
      .handle("list", () => Effect.map(Effect.flatMap(CurrentActor, organizations.list), (data) => ({ data })))
      .handle("get", ({ path }) => Effect.flatMap(access.org(path, "org.read"), organizations.get))
      .handle("rename", ({ path, payload }) =>
        Effect.flatMap(access.org(path, "org.update"), (place) => organizations.rename(place, payload.name))
      )
      .handle("delete", ({ path }) => Effect.flatMap(access.org(path, "org.delete"), organizations.remove))
      .pipe(serving)
  })
).pipe(Layer.provide(Organizations.Default))
