import { Api } from "@coffer/domain/Api"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { ScimTokens } from "./ScimTokens.js"

export const ScimHttp = HttpApiBuilder.group(Api, "scim", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const scim = yield* ScimTokens
    return handlers
      .handle("get", ({ path }) => Effect.flatMap(access.org(path, "scim.read"), scim.show))
      .handle("enable", ({ path }) => access.change(access.org(path, "scim.enable"), scim.enable))
      .handle("rotate", ({ path }) => access.change(access.org(path, "scim.rotate"), scim.rotate))
      .handle("disable", ({ path }) => access.change(access.org(path, "scim.disable"), scim.disable))
  })
).pipe(Layer.provide(ScimTokens.Default))
