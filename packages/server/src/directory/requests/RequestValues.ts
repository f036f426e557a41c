import { CurrentCaller } from "@coffer/domain/access/Actor"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { SecretKey } from "@coffer/domain/base/Names"
import type { RequestId } from "@coffer/domain/base/Ids"
import { RedactedSecretValue } from "@coffer/domain/secrets/SecretValues"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Access, type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { mapInSlices } from "../../base/EventLoop.js"
import { method } from "../../base/tracing/Traced.js"
import { Requests } from "./Requests.js"

const decodeValue = Schema.decodeUnknownOption(
  Schema.Struct({ key: Schema.typeSchema(SecretKey), value: RedactedSecretValue })
)

const fieldsOf = (json: unknown, name: string): unknown => (Predicate.hasProperty(json, name) ? json[name] : undefined)

const entriesOf = (json: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof json === "object" && json !== null ? Object.entries(json) : []

/** The values that a call sets: of the one key of its path, or by key in its body. */
const settings = (json: unknown): ReadonlyArray<readonly [unknown, unknown]> => {
  const payload = fieldsOf(json, "payload")
  const value = fieldsOf(payload, "value")
  const one: ReadonlyArray<readonly [unknown, unknown]> =
    value === undefined ? [] : [[fieldsOf(fieldsOf(json, "path"), "key"), value]]
  return [...one, ...entriesOf(fieldsOf(payload, "set")), ...entriesOf(fieldsOf(payload, "references"))]
}

/** Reads the values that pending changes set, by the reader's own right in the environment. */
export class RequestValues extends Effect.Service<RequestValues>()("@coffer/server/RequestValues", {
  effect: Effect.gen(function* () {
    const requests = yield* Requests
    const access = yield* Access
    const audit = yield* AuditLog

    const read = method("RequestValues.read", function* (place: Place<"request.list">, path: OrgPath, id: RequestId) {
      const row = yield* requests.find(place, id)
      const names = { ...path, project_name: row.project, env_name: row.env }
      const reading = yield* Effect.provideService(access.env(names, "secret.read"), CurrentCaller, {
        actor: place.actor
      })
      // Another environment may have the name by now.
      if (reading.env.id !== row.env_id) return yield* notFound(`the environment of request ${id}`)
      const json = yield* requests.bodyOf(row)
      const found = yield* mapInSlices(settings(json), ([key, value]) => decodeValue({ key, value }))
      const data = found.flatMap(Option.toArray)
      yield* audit.seen(sourceOf(reading), {
        action: "request.read",
        resource_type: "request",
        resource_id: id,
        metadata: { requester: row.actor_name, keys: data.map(({ key }) => ({ key })) }
      })
      return { data }
    })

    return { read } as const
  }),
  dependencies: [Requests.Default]
}) {}
