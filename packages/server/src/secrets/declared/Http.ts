import { Api } from "@coffer/domain/Api"
import { DeclaredKey } from "@coffer/domain/secrets/DeclaredKey"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Declared } from "./Declared.js"
import { KeyChecks } from "./KeyChecks.js"

const listed = longList(DeclaredKey)

export const DeclaredHttp = HttpApiBuilder.group(Api, "declared", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const declared = yield* Declared
    const { check } = yield* KeyChecks
    return handlers
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.project(path, "declared.list"), declared.list), (data) => listed({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.project(path, "declared.list"), (place) => declared.get(place, path.key))
      )
      .handle("set", ({ path, payload }) =>
        access.change(access.project(path, "declared.set"), (place) => declared.set(place, path.key, payload))
      )
      .handle("delete", ({ path }) =>
        access.change(access.project(path, "declared.delete"), (place) => declared.remove(place, path.key))
      )
      .handle("check", ({ path }) => Effect.flatMap(access.env(path, "secret.compare"), check))
  })
).pipe(Layer.provide([Declared.Default, KeyChecks.Default]))
