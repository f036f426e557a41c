import { Api } from "@coffer/domain/Api"
import { MatrixRow } from "@coffer/domain/Matrix"
import { BundledSecret, type BundleWritten, Revision, SecretChange, SecretDifference } from "@coffer/domain/Secret"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList, longObject } from "../../http/LongList.js"
import { Bundles } from "../services/Bundles.js"
import { ProjectMatrix } from "../services/ProjectMatrix.js"
import { Promotion } from "../services/Promotion.js"
import { Revisions } from "../services/Revisions.js"
import { Environments } from "./Environments.js"

const withETag = (etag: string) =>
  HttpApp.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "etag", etag))
  )

const unchanged = HttpServerResponse.empty({ status: 304 })
const secrets = longList(BundledSecret)
const byKey = (data: ReadonlyArray<BundledSecret>) => longObject(data.map(({ key, value }) => [key, value] as const))
const changes = longList(SecretChange)
const differences = longList(SecretDifference)
const listed = longList(Revision)
const rows = longList(MatrixRow)

/** Responds with the result of a change and the environment's new ETag. */
const respondWritten = <E, R>(
  change: Effect.Effect<{ readonly etag: string; readonly written: BundleWritten }, E, R>
) =>
  Effect.gen(function* () {
    const { etag, written } = yield* change
    yield* withETag(etag)
    return yield* changes(written)
  })

export const EnvironmentsHttp = HttpApiBuilder.group(Api, "environments", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const environments = yield* Environments
    const bundles = yield* Bundles
    const promotion = yield* Promotion
    const matrix = yield* ProjectMatrix
    const revisions = yield* Revisions
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.project(path, "env.create"), (place) => environments.create(place, payload.name))
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.project(path, "env.list"), environments.list), (data) => ({ data }))
      )
      .handle("matrix", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.project(path, "env.list")
          const { etag, found } = yield* matrix.read(place, urlParams.envs, headers["if-none-match"])
          yield* withETag(etag)
          return found === undefined ? unchanged : yield* rows(found)
        })
      )
      .handle("delete", ({ path, urlParams }) =>
        access.change(access.env(path, "env.delete"), (place) => environments.remove(place, urlParams.force))
      )
      .handle("bundle", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.read")
          const { format } = urlParams
          const { bundle, etag } = yield* bundles.read(place, { ...urlParams, ifNoneMatch: headers["if-none-match"] })
          yield* withETag(etag)
          if (bundle === undefined) return unchanged
          return yield* format === "object" ? byKey(bundle.data) : secrets(bundle)
        })
      )
      .handle("writeBundle", ({ headers, path, payload }) =>
        respondWritten(
          Effect.flatMap(bundles.prepare(access.env(path, "secret.write"), payload), (draft) =>
            access.change(
              access.env(path, "secret.write"),
              (place) => bundles.write(place, payload, headers["if-match"], draft),
              { ahead: bundles.ahead(payload) }
            )
          )
        )
      )
      .handle("copy", ({ headers, path, payload }) =>
        Effect.suspend(() => {
          const to = access.env(path, "secret.write")
          const from = access.env({ ...path, env_name: payload.from }, "secret.copy")
          return respondWritten(
            Effect.flatMap(promotion.prepare(Effect.all({ to, from }), payload), (prepared) =>
              access.change(to, (to) =>
                Effect.flatMap(from, (from) => promotion.copy(to, from, payload, headers["if-match"], prepared))
              )
            )
          )
        })
      )
      .handle("diff", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const other = { ...path, env_name: urlParams.with }
          const here = yield* access.env(path, "secret.compare")
          const there = yield* access.env(other, "secret.compare")
          const reading =
            urlParams.resolved === true
              ? { here: yield* access.env(path, "secret.read"), there: yield* access.env(other, "secret.read") }
              : undefined
          return yield* differences(yield* promotion.diff(here, there, reading))
        })
      )
      .handle("revisions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.list")
          return yield* listed({ data: yield* revisions.list(place, urlParams) })
        })
      )
      .handle("revert", ({ headers, path, payload }) =>
        respondWritten(
          Effect.flatMap(revisions.prepare(access.env(path, "secret.write"), payload), (prepared) =>
            access.change(access.env(path, "secret.write"), (place) =>
              revisions.revert(place, payload, headers["if-match"], prepared)
            )
          )
        )
      )
  })
).pipe(
  Layer.provide([Environments.Default, Bundles.Default, ProjectMatrix.Default, Promotion.Default, Revisions.Default])
)
