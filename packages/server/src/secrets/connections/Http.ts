import { Api } from "@coffer/domain/Api"
import { Connection } from "@coffer/domain/secrets/Connection"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers } from "../../directory/requests/GatedHandlers.js"
import { longList } from "../../http/LongList.js"
import { Orphans } from "../leases/Orphans.js"
import { Connections } from "./Connections.js"

const listed = longList(Connection)

export const ConnectionsHttp = HttpApiBuilder.group(Api, "connections", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const connections = yield* Connections
    const orphans = yield* Orphans
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "connection.list"), connections.list), (data) =>
          listed({ data })
        )
      )
      .handle(
        "create",
        gated("connections.create", ({ path, payload }) =>
          access.change(access.guarded(path, "connection.create"), (place) => connections.create(place, payload))
        )
      )
      .handle(
        "delete",
        gated("connections.delete", ({ path }) =>
          access.change(access.guarded(path, "connection.delete"), (place) =>
            connections.remove(place, path.connection_name)
          )
        )
      )
      .handle("test", ({ path }) =>
        Effect.flatMap(
          access.change(access.env(path, "connection.test"), (place) => connections.begin(place, path.connection_name)),
          connections.finish
        )
      )
      .handle("removeOrphan", ({ path }) =>
        Effect.flatMap(
          access.change(access.env(path, "orphan.delete"), (place) =>
            orphans.begin(place, path.connection_name, path.lease_id)
          ),
          orphans.finish
        )
      )
  })
).pipe(Layer.provide([Connections.Default, Orphans.Default, GatedHandlers.Default]))
