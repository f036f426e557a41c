import { Api } from "@coffer/domain/Api"
import type { TrashApi } from "@coffer/domain/api/TrashApi"
import { Removed } from "@coffer/domain/directory/Removed"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Access } from "../../access/Access.js"
import { GatedHandlers, type RequestOf } from "../../directory/requests/GatedHandlers.js"
import { makeSettling, type TrashRow } from "../../directory/trash/Settling.js"
import { longList } from "../../http/LongList.js"
import { makeErasing } from "./Erasing.js"
import { Trash } from "./Trash.js"

const listed = longList(Removed)

/** Leases end within seconds after a removal, unless their database does not respond. */
const untilLeasesEnd = Schedule.intersect(Schedule.spaced("1 second"), Schedule.recurs(60))

type Of<Name extends string> = RequestOf<typeof TrashApi, Name>

export const TrashHttp = HttpApiBuilder.group(Api, "trash", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const trash = yield* Trash
    const { gated } = yield* GatedHandlers
    const { inOrganization, settlePlace } = yield* makeSettling
    const { erase } = yield* makeErasing
    const { person } = access
    const scope = yield* Effect.scope

    /** Erases in the background what was given up. The hourly maintenance completes what a stop of the server cuts off. */
    const inBackground = (row: TrashRow) =>
      erase(row, inOrganization).pipe(
        Effect.repeat({ until: (isErased) => isErased, schedule: untilLeasesEnd }),
        Effect.catchAllCause((cause) =>
          Effect.logError(`${row.name} is not erased yet: the next maintenance completes it`, cause)
        ),
        Effect.forkIn(scope),
        Effect.asVoid
      )

    const restoreProject = gated("trash.restoreProject", ({ path, payload }: Of<"restoreProject">) =>
      Effect.zipRight(
        Effect.flatMap(access.org(path, "project.restore"), ({ org }) => settlePlace(org.id, path.removed_id)),
        access.change(access.org(path, "project.restore"), (place) =>
          trash.restoreProject(place, path.removed_id, payload.name)
        )
      )
    )
    const restoreEnvironment = gated("trash.restoreEnvironment", ({ path, payload }: Of<"restoreEnvironment">) =>
      Effect.zipRight(
        Effect.flatMap(access.project(path, "env.restore"), ({ org }) => settlePlace(org.id, path.removed_id)),
        access.change(access.project(path, "env.restore"), (place) =>
          trash.restoreEnvironment(place, path.removed_id, payload.name)
        )
      )
    )
    const eraseProject = gated(
      "trash.eraseProject",
      ({ path, payload }: Of<"eraseProject">) =>
        access.change(access.org(path, "project.erase"), (place) =>
          trash.eraseProject(place, path.removed_id, payload.name)
        ),
      inBackground
    )
    const eraseEnvironment = gated(
      "trash.eraseEnvironment",
      ({ path, payload }: Of<"eraseEnvironment">) =>
        access.change(access.project(path, "env.erase"), (place) =>
          trash.eraseEnvironment(place, path.removed_id, payload.name)
        ),
      inBackground
    )

    return handlers
      .handle("organizations", ({ urlParams }) =>
        person("org.restore").pipe(
          Effect.flatMap((actor) => trash.listOrganizations(actor, urlParams)),
          Effect.flatMap((data) => listed({ data }))
        )
      )
      .handle("restoreOrganization", ({ path, payload }) =>
        Effect.gen(function* () {
          yield* person("org.restore")
          const { org } = yield* access.removedOrg(path.removed_id, "org.restore")
          yield* settlePlace(org.id, org.id)
          return yield* access.change(access.removedOrg(path.removed_id, "org.restore"), (place) =>
            trash.restoreOrganization(place, payload.name)
          )
        })
      )
      .handle("eraseOrganization", ({ path, payload }) =>
        Effect.gen(function* () {
          yield* person("org.erase")
          const row = yield* access.change(access.removedOrg(path.removed_id, "org.erase"), (place) =>
            trash.eraseOrganization(place, payload.name)
          )
          yield* inBackground(row)
        })
      )
      .handle("projects", ({ path, urlParams }) =>
        access.org(path, "project.restore").pipe(
          Effect.flatMap((place) => trash.listProjects(place, urlParams)),
          Effect.flatMap((data) => listed({ data }))
        )
      )
      .handle("restoreProject", restoreProject)
      .handle("eraseProject", (request) => Effect.flatMap(eraseProject(request), inBackground))
      .handle("environments", ({ path, urlParams }) =>
        access.project(path, "env.restore").pipe(
          Effect.flatMap((place) => trash.listEnvironments(place, urlParams)),
          Effect.flatMap((data) => listed({ data }))
        )
      )
      .handle("restoreEnvironment", restoreEnvironment)
      .handle("eraseEnvironment", (request) => Effect.flatMap(eraseEnvironment(request), inBackground))
  })
).pipe(Layer.provide([GatedHandlers.Default, Trash.Default]))
