import { Api } from "@coffer/domain/Api"
import type { SecretsApi } from "@coffer/domain/api/SecretsApi"
import { SecretListed } from "@coffer/domain/secrets/Secret"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { GatedHandlers, type RequestOf } from "../../directory/requests/GatedHandlers.js"
import { Dues } from "../dues/Dues.js"
import { longList } from "../../http/LongList.js"
import { ReferenceReader } from "../references/ReferenceReader.js"
import { ComparedVersions } from "./ComparedVersions.js"
import { History } from "./History.js"
import { RemovedSecrets } from "./RemovedSecrets.js"
import { Secrets } from "./Secrets.js"

const listed = longList(SecretListed)

export const SecretsHttp = HttpApiBuilder.group(Api, "secrets", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const secrets = yield* Secrets
    const history = yield* History
    const compared = yield* ComparedVersions
    const referenceReader = yield* ReferenceReader
    const dues = yield* Dues
    const removedSecrets = yield* RemovedSecrets
    const { gated } = yield* GatedHandlers
    const destroyed = gated(
      "secrets.destroy",
      ({ path, payload }: RequestOf<typeof SecretsApi, "destroy">) =>
        access
          .change(access.guarded(path, "secret.destroy"), (place) => history.destroy(place, path.key, payload.versions))
          // An interrupt after the commit would skip the erasure: see `History.destroy`.
          .pipe(Effect.uninterruptible),
      ({ erased }) => erased
    )
    return handlers
      .handle(
        "set",
        gated("secrets.set", ({ path, payload }) =>
          access.change(
            access.guarded(path, "secret.write"),
            (place) =>
              secrets.set(
                place,
                path.key,
                { kind: payload.kind ?? "text", value: payload.value },
                payload.expected_version
              ),
            { ahead: secrets.ahead(path.key, false) }
          )
        )
      )
      .handle("get", ({ path, urlParams }) =>
        Effect.flatMap(access.env(path, "secret.read"), (place) =>
          secrets.read(place, path.key, urlParams.version, urlParams.raw)
        )
      )
      .handle("list", ({ path, urlParams: { due_within, removed, ...page } }) =>
        Effect.gen(function* () {
          const place = yield* access.env(path, "secret.list", "some")
          if (removed === true) return yield* listed(yield* removedSecrets.list(place, page))
          return yield* listed({
            data: yield* due_within === undefined ? secrets.list(place) : dues.listWithin(place, due_within)
          })
        })
      )
      .handle(
        "delete",
        gated("secrets.delete", ({ path, urlParams }) =>
          access.change(
            access.guarded(path, "secret.write"),
            (place) => secrets.remove(place, path.key, urlParams.expected_version, urlParams.force),
            { ahead: secrets.ahead(path.key, urlParams.force !== true) }
          )
        )
      )
      .handle("references", ({ path }) =>
        Effect.flatMap(access.env(path, "secret.list"), (place) => referenceReader.around(place, path.key))
      )
      .handle("versions", ({ path, urlParams: { compare, ...page } }) =>
        Effect.gen(function* () {
          if (compare === true) {
            return { data: yield* compared.list(yield* access.env(path, "secret.compare"), path.key, page) }
          }
          return { data: yield* history.versions(yield* access.env(path, "secret.list"), path.key, page) }
        })
      )
      .handle(
        "rollback",
        gated("secrets.rollback", ({ path, payload }) =>
          access.change(access.guarded(path, "secret.write"), (place) => history.rollback(place, path.key, payload))
        )
      )
      .handle(
        "undelete",
        gated("secrets.undelete", ({ path }) =>
          access.change(access.guarded(path, "secret.write"), (place) => history.undelete(place, path.key))
        )
      )
      .handle("destroy", (request) =>
        Effect.flatMap(destroyed(request), ({ data, erased }) => Effect.map(erased, (how) => ({ data, erased: how })))
      )
  })
).pipe(
  Layer.provide([
    GatedHandlers.Default,
    Secrets.Default,
    History.Default,
    ComparedVersions.Default,
    ReferenceReader.Default,
    Dues.Default,
    RemovedSecrets.Default
  ])
)
