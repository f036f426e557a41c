import { Api } from "@coffer/domain/Api"
import type { ProtectionsApi } from "@coffer/domain/api/ProtectionsApi"
import type { RecordMatch } from "@coffer/domain/base/RecordETag"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers, type RequestOf } from "./GatedHandlers.js"
import { makeGrantedAccess } from "./GrantedAccess.js"
import { EnvironmentProtections } from "./EnvironmentProtections.js"
import { RequestValues } from "./RequestValues.js"
import { Requests } from "./Requests.js"
import { Votes } from "./Votes.js"

/** A request that an earlier version of the server has stored has no headers. */
type Stored<Name extends "set" | "remove"> = Omit<RequestOf<typeof ProtectionsApi, Name>, "headers"> & {
  readonly headers?: RecordMatch
}

export const ProtectionsHttp = HttpApiBuilder.group(Api, "protections", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const protections = yield* EnvironmentProtections
    const { gated } = yield* GatedHandlers
    return handlers
      .handle("get", ({ path }) => Effect.flatMap(access.env(path, "protection.read"), protections.get))
      .handle(
        "set",
        gated("protections.set", ({ headers, path, payload }: Stored<"set">) =>
          access.change(access.env(path, "protection.set"), (place) =>
            Effect.gen(function* () {
              yield* protections.checkState(place, headers?.["if-match"])
              if (yield* protections.isWeakening(place, payload)) yield* access.admit(place)
              return yield* protections.set(place, payload)
            })
          )
        )
      )
      .handle(
        "remove",
        gated("protections.remove", ({ headers, path }: Stored<"remove">) =>
          access.change(access.guarded(path, "protection.delete"), (place) =>
            Effect.zipRight(protections.checkState(place, headers?.["if-match"]), protections.remove(place))
          )
        )
      )
  })
).pipe(Layer.provide([EnvironmentProtections.Default, GatedHandlers.Default]))

export const RequestsHttp = HttpApiBuilder.group(Api, "requests", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const requests = yield* Requests
    const values = yield* RequestValues
    const votes = yield* Votes
    const rules = yield* makeGrantedAccess
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "request.create"), (place) => rules.ask(place, payload))
      )
      .handle("list", ({ path, urlParams }) =>
        Effect.flatMap(access.org(path, "request.list"), (place) => requests.list(place, urlParams))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.org(path, "request.list"), (place) => requests.get(place, path.request_id))
      )
      .handle("values", ({ path }) =>
        Effect.flatMap(access.org(path, "request.list"), (place) => values.read(place, path, path.request_id))
      )
      .handle("approve", ({ path, payload }) => votes.approve(path, payload.comment))
      .handle("refuse", ({ path, payload }) => votes.refuse(path, payload.comment))
      .handle("withdraw", ({ path }) => votes.withdraw(path))
  })
).pipe(Layer.provide([Requests.Default, RequestValues.Default, Votes.Default]))
