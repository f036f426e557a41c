import { Api } from "@coffer/domain/Api"
import { Project } from "@coffer/domain/Project"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { GatedCalls } from "../requests/GatedCalls.js"
import { Projects } from "./Projects.js"

const listed = longList(Project)

export const ProjectsHttp = HttpApiBuilder.group(Api, "projects", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const projects = yield* Projects
    const { gated } = yield* GatedCalls
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "project.create"), (place) => projects.create(place, payload.name))
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "project.list"), projects.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) => Effect.flatMap(access.project(path, "project.read"), projects.get))
      .handle("rename", ({ path, payload }) =>
        access.change(access.project(path, "project.update"), (place) => projects.change(place, payload))
      )
      .handle(
        "delete",
        gated("projects.delete", ({ path }) =>
          access.change(Effect.tap(access.project(path, "project.delete"), access.admitRemoval), projects.remove)
        )
      )
  })
).pipe(Layer.provide([Projects.Default, GatedCalls.Default]))
