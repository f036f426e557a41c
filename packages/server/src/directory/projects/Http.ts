import { Api } from "@coffer/domain/Api"
import type { ProjectsApi } from "@coffer/domain/api/ProjectsApi"
import { Project } from "@coffer/domain/directory/Project"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { GatedHandlers, type RequestOf } from "../requests/GatedHandlers.js"
import { makeSettling } from "../trash/Settling.js"
import { Projects } from "./Projects.js"

const listed = longList(Project)

export const ProjectsHttp = HttpApiBuilder.group(Api, "projects", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const projects = yield* Projects
    const { gated } = yield* GatedHandlers
    const { settleRemoved } = yield* makeSettling
    const remove = gated(
      "projects.delete",
      ({ path }: RequestOf<typeof ProjectsApi, "delete">) =>
        access.change(Effect.tap(access.project(path, "project.delete"), access.admitRemoval), projects.remove),
      settleRemoved
    )
    return handlers
      .handle(
        "create",
        gated("projects.create", ({ path, payload }) =>
          access.change(access.org(path, "project.create"), (place) =>
            Effect.tap(projects.create(place, payload.name), (made) =>
              access.admitName(place, { kind: "project", orgId: place.org.id, ...made })
            )
          )
        )
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "project.list"), projects.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) => Effect.flatMap(access.project(path, "project.read"), projects.get))
      .handle(
        "rename",
        gated("projects.rename", ({ path, payload }) =>
          access.change(access.project(path, "project.update"), (place) =>
            Effect.gen(function* () {
              const isMoved = payload.name !== undefined && payload.name !== place.project.name
              if (isMoved) yield* access.admitRemoval(place)
              const changed = yield* projects.change(place, payload)
              if (isMoved) yield* access.admitName(place, { kind: "project", orgId: place.org.id, ...changed })
              return changed
            })
          )
        )
      )
      .handle("delete", (request) => Effect.flatMap(remove(request), settleRemoved))
  })
).pipe(Layer.provide([Projects.Default, GatedHandlers.Default]))
