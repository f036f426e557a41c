import { Api } from "@coffer/domain/Api"
import type { UserId } from "@coffer/domain/base/Ids"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { serverScope, userScope } from "../../database/Scopes.js"
import { UserDirectory } from "./UserDirectory.js"

/** The list of users, whose superadmins are counted, and the sessions of one of them. */
const scopesOf = (id: UserId) => ({ also: [serverScope, userScope(id)] })

export const UsersHttp = HttpApiBuilder.group(Api, "users", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const users = yield* UserDirectory
    return handlers
      .handle("list", ({ urlParams }) =>
        Effect.flatMap(access.serverPlace("user.list"), (serverPlace) => users.list(serverPlace, urlParams))
      )
      .handle("disable", ({ path }) =>
        access.change(
          access.serverPlace("user.disable"),
          (serverPlace) => users.disable(serverPlace, path.user_id),
          scopesOf(path.user_id)
        )
      )
      .handle("enable", ({ path }) =>
        access.change(
          access.serverPlace("user.enable"),
          (serverPlace) => users.enable(serverPlace, path.user_id),
          scopesOf(path.user_id)
        )
      )
      .handle("endSessions", ({ path }) =>
        access.change(
          access.serverPlace("user.end_sessions"),
          (serverPlace) => users.endSessions(serverPlace, path.user_id),
          scopesOf(path.user_id)
        )
      )
  })
).pipe(Layer.provide(UserDirectory.Default))
