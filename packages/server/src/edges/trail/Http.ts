import { Api } from "@coffer/domain/Api"
import { AuditEntry } from "@coffer/domain/audit/AuditEntry"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Activity } from "./Activity.js"
import { Trail } from "./Trail.js"

// One entry at a time: an entry may name thousands of keys.
const page = longList(AuditEntry, 1)

export const AuditHttp = HttpApiBuilder.group(Api, "audit", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const activity = yield* Activity
    const trail = yield* Trail
    return handlers
      .handle("list", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "audit.read"), (place) => Effect.flatMap(trail.list(place, urlParams), page))
      )
      .handle("verify", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "audit.verify"), (place) => trail.verify(place, urlParams))
      )
      .handle("activity", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "audit.read"), (place) => activity.ofOrganization(place, urlParams))
      )
      .handle("listAll", ({ urlParams: { org_id, ...request } }) =>
        Effect.flatMap(access.serverPlace("audit.read"), (serverPlace) =>
          Effect.flatMap(trail.listAll(serverPlace, org_id, request), page)
        )
      )
      .handle("verifyAll", ({ urlParams: { org_id, ...request } }) =>
        Effect.flatMap(access.serverPlace("audit.verify"), (serverPlace) =>
          trail.verifyAll(serverPlace, org_id, request)
        )
      )
  })
).pipe(Layer.provide([Activity.Default, Trail.Default]))
