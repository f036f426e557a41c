import { Api } from "@coffer/domain/Api"
import type { UserId } from "@coffer/domain/base/Ids"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import type { ServerPlace } from "../../access/ServerPlace.js"
import { serverScope, userScope } from "../../database/Scopes.js"
import { inSteps, type Step } from "../../database/InSteps.js"
import { UserDirectory } from "./UserDirectory.js"

/** The list of users, whose superadmins are counted, and the sessions of one of them. */
const scopesOf = (id: UserId) => ({ also: [serverScope, userScope(id)] })

export const UsersHttp = HttpApiBuilder.group(Api, "users", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const users = yield* UserDirectory
    /** Changes a user. A person chooses how many sessions end with it, so each transaction ends some. */
    const changed = <A extends Step & { readonly user: unknown }, E, R>(
      action: string,
      id: UserId,
      change: (serverPlace: ServerPlace, id: UserId) => Effect.Effect<A, E, R>
    ) =>
      inSteps(access.change(access.serverPlace(action), (serverPlace) => change(serverPlace, id), scopesOf(id))).pipe(
        Effect.map(({ user }): A["user"] => user)
      )
    return handlers
      .handle("list", ({ urlParams }) =>
        Effect.flatMap(access.serverPlace("user.list"), (serverPlace) => users.list(serverPlace, urlParams))
      )
      .handle("disable", ({ path }) => changed("user.disable", path.user_id, users.disable))
      .handle("enable", ({ path }) => changed("user.enable", path.user_id, users.enable))
      .handle("endSessions", ({ path }) => changed("user.end_sessions", path.user_id, users.endSessions))
  })
).pipe(Layer.provide(UserDirectory.Default))
