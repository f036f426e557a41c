import { Api } from "@coffer/domain/Api"
import type { EnvironmentsApi } from "@coffer/domain/api/EnvironmentsApi"
import { ValidationError } from "@coffer/domain/errors/Errors"
import { EnvId } from "@coffer/domain/base/Ids"
import { makeCompactLists } from "@coffer/domain/secrets/CompactMatrix"
import { type Matrix, MatrixRow } from "@coffer/domain/secrets/Matrix"
import { BundledSecret, type BundleWritten, SecretChange } from "@coffer/domain/secrets/Bundle"
import { SecretDifference } from "@coffer/domain/secrets/Diff"
import { Revision } from "@coffer/domain/secrets/Revision"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access, type Place } from "../../access/Access.js"
import { GatedHandlers, type RequestOf } from "../../directory/requests/GatedHandlers.js"
import { makeSettling } from "../../directory/trash/Settling.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { uuidV7 } from "../../base/Uuid.js"
import { longList, longLists, longObject } from "../../http/LongList.js"
import { Bundles } from "../services/Bundles.js"
import { ProjectMatrix } from "../services/ProjectMatrix.js"
import { Promotion } from "../services/Promotion.js"
import { Revisions } from "../services/Revisions.js"
import { Environments, type NewEnvironment } from "./Environments.js"

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

/** The compact form of a matrix. */
const compactRows = ({ data, environments, others }: Matrix) =>
  Effect.suspend(() => {
    const { add, done } = makeCompactLists()
    const known = JSON.stringify({ environments, others }).slice(0, -1)
    return Effect.flatMap(mapInSlices(data, add), () => longLists({ ...done() }, [`${known},`, "}"]))
  })

/** Responds with the result of a change and the environment's new ETag. */
const respondWritten = <E, R>(
  change: Effect.Effect<{ readonly etag: string; readonly written: BundleWritten }, E, R>
) =>
  Effect.gen(function* () {
    const { etag, written } = yield* change
    yield* withETag(etag)
    return yield* changes(written)
  })

/** The end of an environment in milliseconds since 1970. */
const millisOf = (expires_at: string | null | undefined): number | null =>
  expires_at === undefined || expires_at === null ? null : Date.parse(expires_at)

type Of<Name extends string> = RequestOf<typeof EnvironmentsApi, Name>

export const EnvironmentsHttp = HttpApiBuilder.group(Api, "environments", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const environments = yield* Environments
    const bundles = yield* Bundles
    const promotion = yield* Promotion
    const matrix = yield* ProjectMatrix
    const revisions = yield* Revisions
    const { gated } = yield* GatedHandlers
    const { settleRemoved } = yield* makeSettling
    const writeBundle = gated("environments.writeBundle", ({ headers, path, payload }: Of<"writeBundle">) =>
      Effect.flatMap(bundles.prepare(access.guarded(path, "secret.write", null, "some"), payload), (draft) =>
        access.change(
          access.guarded(path, "secret.write", null, "some"),
          (place) => bundles.write(place, payload, headers["if-match"], draft),
          { ahead: bundles.ahead(payload) }
        )
      ).pipe(Effect.scoped)
    )
    const copy = gated("environments.copy", ({ headers, path, payload }: Of<"copy">) =>
      Effect.suspend(() => {
        const to = access.guarded(path, "secret.write", null, "some")
        const from = access.env({ ...path, env_name: payload.from }, "secret.copy", "some")
        return Effect.flatMap(promotion.prepare(Effect.all({ to, from }), payload), (prepared) =>
          access.change(to, (to) =>
            Effect.flatMap(from, (from) => promotion.copy(to, from, payload, headers["if-match"], prepared))
          )
        )
      }).pipe(Effect.scoped)
    )
    const revert = gated("environments.revert", ({ headers, path, payload }: Of<"revert">) =>
      Effect.flatMap(revisions.prepare(access.guarded(path, "secret.write"), payload), (prepared) =>
        access.change(access.guarded(path, "secret.write"), (place) =>
          revisions.revert(place, payload, headers["if-match"], prepared)
        )
      ).pipe(Effect.scoped)
    )
    const remove = gated(
      "environments.delete",
      ({ path, urlParams }: Of<"delete">) =>
        access.change(access.guarded(path, "env.delete", {}), (place) => environments.remove(place, urlParams.force)),
      settleRemoved
    )
    const make = Effect.fnUntraced(function* ({ path, payload }: Of<"create">) {
      const { expires_at, from, keys, name } = payload
      if (keys !== undefined && from === undefined) {
        return yield* new ValidationError({ message: "keys: needs from, the environment that they are copied from" })
      }
      const end = millisOf(expires_at)
      const entering = access.creating(path, { name, from, end })
      const created = (place: Place<"env.create">, given: NewEnvironment) =>
        Effect.tap(environments.create(place, name, given), (env) =>
          access.admitName(place, { kind: "env", projectId: place.project.id, ...env })
        )
      if (from === undefined) return yield* access.change(entering, (place) => created(place, { end }))
      const id = EnvId.make(yield* uuidV7)
      const source = access.env({ ...path, env_name: from }, "secret.copy")
      const to = Effect.map(entering, (place) => access.created(place, { id, name }))
      const prepared = yield* promotion.prepare(
        Effect.all({ to, from: source }),
        keys === undefined ? {} : { keys },
        true
      )
      return yield* access.change(entering, (place) =>
        Effect.flatMap(source, (from) => created(place, { id, end, origin: { from, keys, prepared } }))
      )
    })
    const create = gated("environments.create", (request: Of<"create">) => Effect.scoped(make(request)))
    return handlers
      .handle("create", create)
      .handle(
        "extend",
        gated("environments.extend", ({ path, payload }) => {
          const end = millisOf(payload.expires_at)
          return access.change(access.guarded(path, "env.extend", { end }), (place) => environments.extend(place, end))
        })
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.project(path, "env.list"), environments.list), (data) => ({ data }))
      )
      .handle("matrix", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.project(path, "env.list")
          const { etag, found } = yield* matrix.read(place, urlParams.envs, headers["if-none-match"])
          yield* withETag(etag)
          if (found === undefined) return unchanged
          return yield* urlParams.format === "compact" ? compactRows(found) : rows(found)
        })
      )
      .handle("delete", (request) => Effect.flatMap(remove(request), settleRemoved))
      .handle("bundle", ({ headers, path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.read", "some")
          const { format } = urlParams
          const { bundle, etag } = yield* bundles.read(place, { ...urlParams, ifNoneMatch: headers["if-none-match"] })
          yield* withETag(etag)
          if (bundle === undefined) return unchanged
          return yield* format === "object" ? byKey(bundle.data) : secrets(bundle)
        })
      )
      .handle("writeBundle", (request) => respondWritten(writeBundle(request)))
      .handle("copy", (request) => respondWritten(copy(request)))
      .handle("diff", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const other = { ...path, env_name: urlParams.with }
          const here = yield* access.env(path, "secret.compare", "some")
          const there = yield* access.env(other, "secret.compare", "some")
          const reading =
            urlParams.resolved === true
              ? {
                  here: yield* access.env(path, "secret.read", "some"),
                  there: yield* access.env(other, "secret.read", "some")
                }
              : undefined
          return yield* differences(yield* promotion.diff(here, there, reading))
        })
      )
      .handle("revisions", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.list", "some")
          return yield* listed({ data: yield* revisions.list(place, urlParams) })
        })
      )
      .handle("revert", (request) => respondWritten(revert(request)))
  })
).pipe(
  Layer.provide([
    GatedHandlers.Default,
    Environments.Default,
    Bundles.Default,
    ProjectMatrix.Default,
    Promotion.Default,
    Revisions.Default
  ])
)
