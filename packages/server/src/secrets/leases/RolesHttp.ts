import { Api } from "@coffer/domain/Api"
import { LeaseRole } from "@coffer/domain/secrets/LeaseRole"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { longList } from "../../http/LongList.js"
import { LeaseRoles } from "./LeaseRoles.js"

const listed = longList(LeaseRole)

export const LeaseRolesHttp = HttpApiBuilder.group(Api, "leaseRoles", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const roles = yield* LeaseRoles
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "lease_role.list"), roles.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.env(path, "lease_role.list"), (place) => roles.get(place, path.role_name))
      )
      .handle(
        "create",
        gated("leaseRoles.create", ({ path, payload }) =>
          access.change(access.guarded(path, "lease_role.create"), (place) => roles.create(place, payload))
        )
      )
      .handle(
        "delete",
        gated("leaseRoles.delete", ({ path }) =>
          access.change(access.guarded(path, "lease_role.delete"), (place) => roles.remove(place, path.role_name))
        )
      )
  })
).pipe(Layer.provide([LeaseRoles.Default, GatedHandlers.Default]))
