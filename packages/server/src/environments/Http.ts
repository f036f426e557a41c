import { Api } from "@coffer/domain/Api"
import { HttpApiBuilder, HttpApp, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { serving } from "../http/Calls.js"
import { Bundles } from "../secrets/Bundles.js"
import { Promotion } from "../secrets/Promotion.js"
import { Revisions } from "../secrets/Revisions.js"
import { Environments } from "./Environments.js"

const withETag = (etag: string) =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "etag", etag))
  )

export const EnvironmentsHttp = HttpApiBuilder.group(Api, "environments", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const environments = yield* Environments
    const bundles = yield* Bundles
    const promotion = yield* Promotion
    const revisions = yield* Revisions
    return yield* handlers
      .handle("create", ({ path, payload }) =>
        Effect.flatMap(access.project(path, "env.create"), (place) => environments.create(place, payload.name))
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.project(path, "env.list"), environments.list), (data) => ({ data }))
      )
      .handle("delete", ({ path }) => Effect.flatMap(access.env(path, "env.delete"), environments.remove))
      .handle("bundle", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.read")
          const { bundle, etag } = yield* bundles.read(place, urlParams.keys, headers["if-none-match"])
          return yield* Effect.as(withETag(etag), bundle)
        })
      )
      .handle("writeBundle", ({ headers, path, payload }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.write")
          const written = yield* bundles.write(place, payload, headers["if-match"])
          return yield* Effect.as(withETag(bundles.etagOf(place.env.id, written.revision)), written)
        })
      )
      .handle("copy", ({ headers, path, payload }) =>
        Effect.gen(function* () {
          const to = yield* access.env(path, "secret.write")
          const from = yield* access.env({ ...path, env_name: payload.from }, "secret.copy")
          const { etag, written } = yield* promotion.copy(to, from, payload, headers["if-match"])
          return yield* Effect.as(withETag(etag), written)
        })
      )
      .handle("diff", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const here = yield* access.env(path, "secret.compare")
          const there = yield* access.env({ ...path, env_name: urlParams.with }, "secret.compare")
          return yield* promotion.diff(here, there)
        })
      )
      .handle("revisions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.list")
          return { data: yield* revisions.list(place, urlParams) }
        })
      )
      .handle("revert", ({ headers, path, payload }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.write")
          const written = yield* revisions.revert(place, payload, headers["if-match"])
          return yield* Effect.as(withETag(bundles.etagOf(place.env.id, written.revision)), written)
        })
      )
      .pipe(serving)
  })
).pipe(Layer.provide([Environments.Default, Bundles.Default, Promotion.Default, Revisions.Default]))
