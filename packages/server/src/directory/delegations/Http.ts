import { Api } from "@coffer/domain/Api"
import { type DelegatedEnvironment, Delegation } from "@coffer/domain/directory/Delegation"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { userScope } from "../../database/Scopes.js"
import { longList } from "../../http/LongList.js"
import { Delegations, neededFor } from "./Delegations.js"

const listed = longList(Delegation)

export const DelegationsHttp = HttpApiBuilder.group(Api, "delegations", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const { person } = access
    const delegations = yield* Delegations

    return handlers
      .handle("create", ({ payload }) =>
        Effect.flatMap(person("delegation.create"), (actor) => {
          const { also = [], env, org: org_name, permission, project } = payload
          const enter = (one: DelegatedEnvironment) =>
            // It changes nothing: a protected environment is delegated as another.
            access.right({ org_name, project_name: one.project, env_name: one.env }, neededFor[permission], "some")
          return access.change(
            Effect.forEach([{ project, env }, ...also] as const, enter),
            (places) => delegations.create(places, actor, payload),
            // The delegations of a person are counted.
            { also: [userScope(actor.id)] }
          )
        })
      )
      .handle("list", () =>
        Effect.flatMap(Effect.flatMap(person("delegation.list"), delegations.list), (data) => listed({ data }))
      )
      .handle("revoke", ({ path }) =>
        access.change(person("delegation.revoke"), (actor) => delegations.revoke(actor, path.delegation_id))
      )
  })
).pipe(Layer.provide(Delegations.Default))
