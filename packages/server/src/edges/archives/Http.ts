import { Api } from "@coffer/domain/Api"
import { ArchivedDeclaration, maxStructureBytes } from "@coffer/domain/archive/ArchivedOrganization"
import { LimitExceeded } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { encodedList, longList, longLists } from "../../http/LongList.js"
import { Exports } from "../../directory/exports/Exports.js"
import { ExportedSecrets } from "../../secrets/archives/ExportedSecrets.js"
import { declaredRepo } from "../../secrets/declared/Repo.js"
import { Imports } from "./Imports.js"
import { type Structure, Structures } from "./Structure.js"

const declarations = longList(ArchivedDeclaration)

const tooLarge = new LimitExceeded({
  message: `the structure of an organization that is exported has at most ${maxStructureBytes / 1024 / 1024} MiB`
})

const structureResponse = ({ lists, passkey_recovery, unused_access_mail, ...rest }: Structure) => {
  const before = JSON.stringify({ ...rest, organization: { passkey_recovery, unused_access_mail } }).slice(0, -2)
  return Effect.flatMap(longLists(lists, [`${before},`, "}}"]), (response) =>
    response.body._tag === "Uint8Array" && response.body.contentLength > maxStructureBytes
      ? tooLarge
      : Effect.succeed(response)
  )
}

export const ExportsHttp = HttpApiBuilder.group(Api, "exports", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const exports = yield* Exports
    const structures = yield* Structures
    const secrets = yield* ExportedSecrets
    const declared = yield* declaredRepo
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "org.export"), (place) => exports.create(place, payload.versions ?? false))
      )
      .handle("list", ({ path }) =>
        Effect.map(Effect.flatMap(access.org(path, "org.export"), exports.list), (data) => ({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.org(path, "org.export"), (place) => exports.get(place, path.export_id))
      )
      .handle("approve", ({ path }) =>
        access.change(access.org(path, "org.export"), (place) => exports.approve(place, path.export_id))
      )
      .handle("end", ({ path }) =>
        access.change(access.org(path, "org.export"), (place) => exports.end(place, path.export_id))
      )
      .handle("structure", ({ path }) =>
        Effect.gen(function* () {
          const place = yield* access.org(path, "org.export")
          yield* exports.readable(place, path.export_id)
          return yield* structureResponse(yield* structures.read(place))
        })
      )
      .handle("declared", ({ path, urlParams }) =>
        Effect.gen(function* () {
          yield* exports.readable(yield* access.org(path, "org.export"), path.export_id)
          const place = yield* access.project({ ...path, project_name: urlParams.project }, "project.read")
          return yield* declarations({ data: yield* declared.all(place.project.id) })
        })
      )
      .handle("secrets", ({ path, urlParams: { after, env, project } }) =>
        Effect.gen(function* () {
          const exported = yield* exports.readable(yield* access.org(path, "org.export"), path.export_id)
          const names = { org_name: path.org_name, project_name: project, env_name: env }
          const place = yield* access.env(names, "secret.read")
          const { next, records, revision } = yield* secrets.page(place, exported, after)
          return encodedList(records, [`{"revision":${revision},`, `,"next_cursor":${JSON.stringify(next)}}`])
        })
      )
  })
).pipe(Layer.provide([Exports.Default, ExportedSecrets.Default, Structures.Default]))

export const ImportsHttp = HttpApiBuilder.group(Api, "imports", (handlers) =>
  Effect.map(Imports, (imports) =>
    handlers
      .handle("create", ({ payload }) => imports.create(payload.name, payload.organization))
      .handle("declared", ({ path, payload }) => imports.declare(path.import_id, payload.project, payload.data))
      .handle("secrets", ({ path, payload }) =>
        imports.write(path.import_id, payload.project, payload.env, payload.data)
      )
      .handle("finish", ({ path, payload }) => imports.finish(path.import_id, payload.counts, payload.name))
      .handle("abandon", ({ path }) => imports.abandon(path.import_id))
  )
).pipe(Layer.provide(Imports.Default))
