import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { serving } from "../http/Calls.js"
import { Trail } from "./Trail.js"

export const AuditHttp = HttpApiBuilder.group(Api, "audit", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const trail = yield* Trail
    return yield* handlers
      .handle("list", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "audit.read"), (place) => trail.list(place, urlParams))
      )
      .handle("verify", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "audit.verify"), (place) => trail.verify(place, urlParams))
      )
      .handle("listAll", ({ urlParams: { org_id, ...request } }) =>
        Effect.flatMap(access.everywhere("audit.read"), (everywhere) => trail.listAll(everywhere, org_id, request))
      )
      .handle("verifyAll", ({ urlParams: { org_id, ...request } }) =>
        Effect.flatMap(access.everywhere("audit.verify"), (everywhere) => trail.verifyAll(everywhere, org_id, request))
      )
      .pipe(serving)
  })
).pipe(Layer.provide(Trail.Default))
