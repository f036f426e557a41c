import { Api } from "@coffer/domain/Api"
import type { UserId } from "@coffer/domain/base/Ids"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { serverScope, userScope } from "../../database/Scopes.js"
import { UserDirectory } from "./Users.js"

/** The list of users, whose superadmins are counted, and the sessions of one of them. */
const scopesOf = (id: UserId) => ({ also: [serverScope, userScope(id)] })

export const UsersHttp = HttpApiBuilder.group(Api, "users", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const users = yield* UserDirectory
    return handlers
      .handle("list", ({ urlParams }) =>
        Effect.flatMap(access.everywhere("user.list"), (everywhere) => users.list(everywhere, urlParams))
      )
      .handle("disable", ({ path }) =>
        access.change(
          access.everywhere("user.disable"),
          (everywhere) => users.disable(everywhere, path.user_id),
          scopesOf(path.user_id)
        )
      )
      .handle("enable", ({ path }) =>
        access.change(
          access.everywhere("user.enable"),
          (everywhere) => users.enable(everywhere, path.user_id),
          scopesOf(path.user_id)
        )
      )
      .handle("endSessions", ({ path }) =>
        access.change(
          access.everywhere("user.end_sessions"),
          (everywhere) => users.endSessions(everywhere, path.user_id),
          scopesOf(path.user_id)
        )
      )
  })
).pipe(Layer.provide(UserDirectory.Default))
