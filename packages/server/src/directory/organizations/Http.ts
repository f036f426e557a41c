import { CurrentCaller } from "@coffer/domain/access/Actor"
import { Api } from "@coffer/domain/Api"
import type { OrganizationsApi } from "@coffer/domain/api/OrganizationsApi"
import { Organization } from "@coffer/domain/directory/Organization"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { GatedHandlers, type RequestOf } from "../requests/GatedHandlers.js"
import { makeSettling } from "../trash/Settling.js"
import { Organizations } from "./Organizations.js"

const listed = longList(Organization)

export const OrganizationsHttp = HttpApiBuilder.group(Api, "organizations", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const organizations = yield* Organizations
    const { gated } = yield* GatedHandlers
    const { settleRemoved } = yield* makeSettling
    const remove = gated(
      "organizations.delete",
      ({ path }: RequestOf<typeof OrganizationsApi, "delete">) =>
        access.change(Effect.tap(access.org(path, "org.delete"), access.admitRemoval), organizations.remove),
      settleRemoved
    )
    return handlers
      .handle(
        "create",
        gated("organizations.create", ({ payload }) =>
          access.change(access.founder(), (founder) =>
            Effect.tap(organizations.create(founder, payload.name), (made) => access.admitOrganization(founder, made))
          )
        )
      )
      .handle("list", () =>
        Effect.flatMap(CurrentCaller, ({ actor }) => organizations.list(actor)).pipe(
          Effect.flatMap((data) => listed({ data }))
        )
      )
      .handle("get", ({ path }) => Effect.flatMap(access.org(path, "org.read"), organizations.get))
      .handle(
        "update",
        gated("organizations.update", ({ path, payload }) =>
          access.change(access.org(path, "org.update"), (place) =>
            Effect.gen(function* () {
              const isMoved = payload.name !== undefined && payload.name !== place.org.name
              if (isMoved) yield* access.admitRemoval(place)
              const changed = yield* organizations.update(place, payload)
              if (isMoved) yield* access.admitName(place, { kind: "org", ...changed })
              return changed
            })
          )
        )
      )
      .handle("delete", (request) => Effect.flatMap(remove(request), settleRemoved))
  })
).pipe(Layer.provide([Organizations.Default, GatedHandlers.Default]))
