import { AclRule } from "@coffer/domain/access/AclRule"
import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { AccessTable } from "./AccessTable.js"
import { Acl } from "./Acl.js"
import { Holders } from "./Holders.js"
import { MarkedRules } from "./MarkedRules.js"

const rules = longList(AclRule)
const updated = HttpServerResponse.schemaJson(AclRule)

export const AclHttp = HttpApiBuilder.group(Api, "acl", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const acl = yield* Acl
    const marked = yield* MarkedRules
    const table = yield* AccessTable
    const holders = yield* Holders
    return handlers
      .handle("grant", ({ path, payload }) =>
        Effect.gen(function* () {
          const { created, rule } = yield* access.change(access.org(path, "acl.grant"), (place) =>
            acl.grant(place, payload)
          )
          return created ? rule : yield* Effect.orDie(updated(rule, { status: 200 }))
        })
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "acl.list"), marked.list), (data) => rules({ data }))
      )
      .handle("explain", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "acl.explain"), (place) =>
          acl.explain(place, urlParams, urlParams.project, urlParams.env, urlParams.key)
        )
      )
      .handle("access", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "acl.explain"), (place) => table.read(place, urlParams))
      )
      .handle("who", ({ path, urlParams }) =>
        Effect.flatMap(access.env(path, "access.list"), (place) => holders.read(place, urlParams))
      )
      .handle("review", ({ path, payload: { note, permission } }) =>
        Effect.flatMap(access.env(path, "access.review"), (place) =>
          Effect.flatMap(holders.count(place, permission), (counted) =>
            access.change(access.env(path, "access.review"), (again) => holders.review(again, counted, note))
          )
        )
      )
      .handle("revoke", ({ path }) =>
        access.change(access.org(path, "acl.revoke"), (place) => acl.revoke(place, path.rule_id))
      )
  })
).pipe(Layer.provide([Acl.Default, MarkedRules.Default, AccessTable.Default, Holders.Default]))
