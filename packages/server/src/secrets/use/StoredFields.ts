import type { EnvPath } from "@coffer/domain/api/Paths"
import { type Forbidden, type NotFound, UseRefused } from "@coffer/domain/errors/Errors"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import type { StoreField } from "@coffer/domain/secrets/StoreField"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Access, type Place } from "../../access/Access.js"
import type { OutboundResponse } from "../../base/outbound/Outbound.js"
import { parseBody } from "../../http/ParseJson.js"
import { Changes } from "../services/Changes.js"
import { setStep } from "../services/Steps.js"
import { decompressed } from "./Decompress.js"
import { valueAt } from "./FieldAt.js"
import { single } from "./UpstreamResponse.js"

/** How many bytes of a response are searched for the field. */
export const maxSearched = 1024 * 1024

/** A response came, and its field was not stored. */
export class NotStored extends Schema.TaggedError<NotStored>()("NotStored", { message: Schema.String }) {
  readonly reason = "not stored"
}

/** A field that was stored. */
export interface Stored {
  readonly key: StoreField["key"]
  readonly version: number
  readonly value: Redacted.Redacted<SecretValue>
}

const isValue = Schema.is(SecretValue)

/** The longest value is a stand-in for the one that comes: what the environment has no room for is refused before the request. */
const standIn = { kind: "text", value: Redacted.make(SecretValue.make("x".repeat(8 * 1024))) } as const

const textIn = (upstream: OutboundResponse, { key, pointer }: StoreField) => {
  const wrong = (what: string) =>
    new NotStored({
      message: `its answer has ${what} at ${pointer}, so nothing was stored as ${key}, and it is withheld`
    })
  return Effect.gen(function* () {
    const encoding = single(upstream.headers["content-encoding"])
    const { body } = yield* Effect.mapError(decompressed(upstream, encoding, maxSearched), () =>
      wrong("no readable JSON")
    )
    // The thread may take the bytes.
    const json = yield* Effect.mapError(parseBody(Uint8Array.from(body)), () => wrong("no readable JSON"))
    const found = valueAt(json, pointer)
    if (typeof found !== "string" || found === "") return yield* wrong("no text")
    if (!isValue(found)) return yield* wrong("no text that a secret can hold")
    return Redacted.make(found)
  })
}

/** Stores fields of responses as secrets, for callers that never see them. */
export const makeStoredFields = Effect.gen(function* () {
  const access = yield* Access
  const changes = yield* Changes

  const stepAt = (
    place: Place<"secret.write">,
    { key }: StoreField,
    value: typeof standIn | Parameters<typeof setStep>[1]
  ) =>
    Effect.gen(function* () {
      const claimed = yield* changes.claim(place)
      return { claimed, step: yield* setStep(key, value, yield* changes.current(place, key)) }
    })

  /**
   * Fails with what would refuse the new version, before the request leaves. Call it in the transaction that permits the request. A
   * protected environment refuses: the request cannot wait for votes.
   */
  const rehearse = (path: EnvPath, store: StoreField) =>
    Effect.gen(function* () {
      const place = yield* access.guarded({ ...path, key: store.key }, "secret.write")
      const { claimed, step } = yield* stepAt(place, store, standIn)
      yield* changes.apply(claimed, [step], { dryRun: true })
    }).pipe(
      Effect.catchAll((refused): Effect.Effect<never, Forbidden | NotFound | UseRefused> =>
        refused._tag === "Forbidden" || refused._tag === "NotFound"
          ? Effect.fail(refused)
          : new UseRefused({
              message: `nothing was sent, because ${store.key} could not be stored: ${refused.message}`
            })
      )
    )

  /** Stores the field of a response, with the right that its caller has by then. Fails with NotStored. */
  const store = (path: EnvPath, field: StoreField, upstream: OutboundResponse, host: string) =>
    Effect.gen(function* () {
      const value = yield* textIn(upstream, field)
      const stored = access.change(access.guarded({ ...path, key: field.key }, "secret.write"), (place) =>
        Effect.gen(function* () {
          const { claimed, step } = yield* stepAt(place, field, { kind: "text", value })
          // A value that breaks a declared pattern is stored all the same: its provider may not show it again.
          yield* changes.apply(claimed, [step], { recorded: () => ({ host, pointer: field.pointer }) })
          return { key: field.key, version: step.version, value } satisfies Stored
        })
      )
      return yield* Effect.mapError(
        stored,
        ({ message }) =>
          new NotStored({
            message: `it answered, but the field at ${field.pointer} was not stored as ${field.key}: ${message}`
          })
      )
    })

  return { rehearse, store } as const
})

export type StoredFields = Effect.Effect.Success<typeof makeStoredFields>
