import { Api } from "@coffer/domain/Api"
import { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { makeDepartures } from "../members/Departures.js"
import { ServiceAccounts } from "./ServiceAccounts.js"

const listed = longList(ServiceAccount)

export const ServiceAccountsHttp = HttpApiBuilder.group(Api, "serviceAccounts", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const accounts = yield* ServiceAccounts
    const { endRest } = yield* makeDepartures
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "service_account.create"), (place) => accounts.create(place, payload))
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "service_account.list"), accounts.list), (data) =>
          listed({ data })
        )
      )
      .handle("update", ({ headers, path, payload }) =>
        access.change(access.org(path, "service_account.update"), (place) =>
          accounts.update(place, path.sa_id, payload, headers["if-match"])
        )
      )
      .handle("rotate", ({ path, payload }) =>
        access.change(access.org(path, "service_account.rotate"), (place) =>
          accounts.rotate(place, path.sa_id, payload.grace_seconds)
        )
      )
      .handle("revoke", ({ path }) =>
        Effect.flatMap(
          access.change(access.org(path, "service_account.revoke"), (place) => accounts.revoke(place, path.sa_id)),
          endRest
        )
      )
  })
).pipe(Layer.provide(ServiceAccounts.Default))
