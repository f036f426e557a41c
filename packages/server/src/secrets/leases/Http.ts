import { Api } from "@coffer/domain/Api"
import { Lease } from "@coffer/domain/secrets/Lease"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Leases } from "./Leases.js"

const listed = longList(Lease)

export const LeasesHttp = HttpApiBuilder.group(Api, "leases", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const leases = yield* Leases
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.env(path, "lease.list"), leases.list), (data) => listed({ data }))
      )
      .handle("create", ({ headers, path, payload }) =>
        Effect.flatMap(
          access.change(access.env(path, "lease.create"), (place) =>
            Effect.map(
              leases.begin(place, path.role_name, { ttl: payload.ttl, key: headers["idempotency-key"] }),
              (begun) => ({ place, begun })
            )
          ),
          ({ begun, place }) => leases.finish(place, begun)
        )
      )
      .handle("renew", ({ path, payload }) =>
        Effect.flatMap(
          access.change(access.env(path, "lease.renew"), (place) =>
            Effect.map(leases.beginRenewal(place, path.lease_id, payload), (begun) => ({ place, begun }))
          ),
          ({ begun, place }) => leases.finishRenewal(place, begun)
        )
      )
      .handle("revoke", ({ path }) =>
        access.change(access.env(path, "lease.revoke"), (place) => leases.revoke(place, path.lease_id))
      )
  })
).pipe(Layer.provide(Leases.Default))
