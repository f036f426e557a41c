import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { serving } from "../http/Calls.js"
import { Projects } from "./Projects.js"

export const ProjectsHttp = HttpApiBuilder.group(Api, "projects", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const projects = yield* Projects
    return yield* handlers
      .handle("create", ({ path, payload }) =>
        Effect.flatMap(access.org(path, "project.create"), (place) => projects.create(place, payload.name))
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.org(path, "project.list"), projects.list), (data) => ({ data }))
      )
      .handle("get", ({ path }) => Effect.flatMap(access.project(path, "project.read"), projects.get))
      .handle("rename", ({ path, payload }) =>
        Effect.flatMap(access.project(path, "project.update"), (place) => projects.rename(place, payload.name))
      )
      .handle("delete", ({ path }) => Effect.flatMap(access.project(path, "project.delete"), projects.remove))
      .pipe(serving)
  })
).pipe(Layer.provide(Projects.Default))
