import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { notYet } from "../http/NotYet.js"
import { Secrets } from "./Secrets.js"

export const SecretsHttp = HttpApiBuilder.group(Api, "secrets", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const secrets = yield* Secrets
    return handlers
      .handle("set", ({ path, payload }) =>
        Effect.flatMap(access.env(path, "secret.write"), (place) =>
          secrets.set(place, path.key, payload.value, payload.expected_version)
        )
      )
      .handle("get", ({ path, urlParams }) =>
        Effect.flatMap(access.env(path, "secret.read"), (place) => secrets.read(place, path.key, urlParams.version))
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.env(path, "secret.list"), secrets.list), (data) => ({ data }))
      )
      .handle("delete", ({ path, urlParams }) =>
        Effect.flatMap(access.env(path, "secret.write"), (place) =>
          secrets.remove(place, path.key, urlParams.expected_version)
        )
      )
      .handle("versions", () => notYet)
      .handle("rollback", () => notYet)
      .handle("undelete", () => notYet)
      .handle("destroy", () => notYet)
  })
).pipe(Layer.provide(Secrets.Default))
