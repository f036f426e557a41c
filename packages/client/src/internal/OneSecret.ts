/** The calls of one secret, which only the command line makes: applications read whole environments. */
import type { ChangeRequested } from "@coffer/domain/requests/ApprovalRequest"
import { defined } from "@coffer/domain/base/Defined"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { ApiRequest, Exchange } from "./Exchange.js"
import { count, field, list, optional, text, value } from "./PlainRecord.js"
import { call, type CallFailure, decodeWith, type EnvNames, envUrl, withApiErrors } from "./SecretCalls.js"
import { key } from "./SecretRecords.js"

export const readSecret = (found: unknown) =>
  Option.zipWith(
    Option.all({
      key: field(found, "key", key),
      value: field(found, "value", value),
      version: field(found, "version", count)
    }),
    optional(found, "kind", text),
    (secret, kind) => ({ ...secret, ...defined({ kind }) })
  )

/** A secret with its value, at one version. */
export type PlainSecret = Option.Option.Value<ReturnType<typeof readSecret>>

const readWarning = (found: unknown) =>
  Option.all({ key: field(found, "key", key), problem: field(found, "problem", text) })

export const readWritten = (found: unknown) =>
  Option.zipWith(
    Option.all({
      key: field(found, "key", key),
      version: field(found, "version", count),
      created_at: field(found, "created_at", text),
      updated_at: field(found, "updated_at", text)
    }),
    optional(found, "warnings", list(readWarning)),
    (written, warnings) => ({ ...written, ...defined({ warnings }) })
  )

type Written = Option.Option.Value<ReturnType<typeof readWritten>>

/** Reads a secret. */
export const getSecret = (
  exchange: Exchange,
  place: EnvNames,
  name: string,
  options: { readonly version?: number | undefined; readonly raw?: boolean }
): Effect.Effect<PlainSecret, CallFailure> => {
  const url = envUrl(exchange, place, `secrets/${name}`)
  if (options.version !== undefined) url.searchParams.set("version", String(options.version))
  if (options.raw === true) url.searchParams.set("raw", "1")
  return call(exchange, { url, method: "GET" }, readSecret)
}

/** Writes a new version of a secret. Fails with `ChangeRequested` if the change waits for votes. */
export const setSecret = (
  exchange: Exchange,
  place: EnvNames,
  name: string,
  payload: { readonly value: Redacted.Redacted; readonly kind?: "reference"; readonly expected_version?: number }
): Effect.Effect<Written, CallFailure | ChangeRequested> => {
  const body = { ...payload, value: Redacted.value(payload.value) }
  const request: ApiRequest = {
    url: envUrl(exchange, place, `secrets/${name}`),
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(body))
  }
  return Effect.flatMap(withApiErrors(exchange.send(request)), (response) =>
    response.status === 202
      ? Effect.flatMap(
          // Loaded late: few environments are protected.
          Effect.promise(() => import("./RequestedChange.js")),
          ({ failWithRequest }) => failWithRequest(exchange, response)
        )
      : decodeWith(exchange, readWritten)(response)
  )
}
