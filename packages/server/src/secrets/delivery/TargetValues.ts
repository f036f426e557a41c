import type { EnvId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { Access, denied, type Place } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Database } from "../../database/Database.js"
import { beginLargeResponse } from "../../http/LargeResponses.js"
import { kindOf, type Value } from "../../keys/Envelope.js"
import { ReferenceReader } from "../references/ReferenceReader.js"
import type { Passed } from "../references/Resolver.js"
import { missingEnvironment, secretsRepo } from "../stored/Repo.js"
import { Versions } from "../stored/Versions.js"

/** A secret as it would leave: with its value, or why it has none. */
export interface Leaving {
  readonly key: SecretKey
  readonly version: number
  readonly value: Either.Either<Value, string>
}

/** An environment whose values may be part of what is pushed. */
export interface Source {
  readonly env_id: EnvId
  readonly revision: number
}

/** The secrets of an environment at one revision. */
export interface EnvironmentValues {
  readonly sources: ReadonlyArray<Source>
  readonly revision: number
  readonly secrets: ReadonlyArray<Leaving>
  readonly passed: ReadonlyArray<Passed<"secret.read">>
}

/** Reads the values of an environment for its targets, with references resolved by the rights of the caller. */
export class TargetValues extends Effect.Service<TargetValues>()("@coffer/server/TargetValues", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const audit = yield* AuditLog
    const secrets = yield* secretsRepo
    const references = yield* ReferenceReader
    const versions = yield* Versions
    const { snapshot } = yield* Database

    const stored = Effect.fnUntraced(function* (place: Place<"secret.read">) {
      const { id, name } = place.env
      const contents = (yield* secrets.contents(id, undefined)) ?? (yield* missingEnvironment(name))
      const rows = contents.secrets
      const passages = yield* references.passages(place)
      const sources: ReadonlyArray<Source> = [
        { env_id: id, revision: contents.revision },
        ...passages.flatMap(([_name, env_id, revision]) =>
          env_id === null || revision === null || env_id === id ? [] : [{ env_id, revision }]
        )
      ]
      return { revision: contents.revision, rows, sources, closure: yield* references.load(place, rows, rows) }
    }, snapshot)

    /** Fails with Forbidden if the caller may not read the environment. Writes no entry: what leaves is recorded before it does. */
    const read = Effect.fnUntraced(function* (place: Place<"target.push">) {
      const reading =
        access.alongside(place, place.env, "secret.read") ??
        (yield* denied(audit, place, `pushing from ${place.project.name}/${place.env.name} needs read there`))
      const { closure, revision, rows, sources } = yield* stored(reading)
      yield* beginLargeResponse(rows.reduce((sum, { value_bytes }) => sum + value_bytes, closure.bytes))
      const opened = Array.zip(rows, yield* versions.openAll(reading, rows))
      const { passed, values } = yield* references.resolve(
        closure,
        opened.flatMap(([row, text]) => (kindOf(row) === "reference" ? [{ key: row.key, text }] : [])),
        new Map(opened.map(([{ key }, text]) => [key, text]))
      )
      const found: EnvironmentValues = {
        revision,
        sources,
        secrets: opened.map(([{ key, version }, text]) => ({
          ...{ key, version },
          value: values.get(key) ?? Either.right(text)
        })),
        passed
      }
      return { reading, found }
    })

    return { read } as const
  }),
  dependencies: [ReferenceReader.Default, Versions.Default]
}) {}
