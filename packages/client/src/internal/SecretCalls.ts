/**
 * The calls of programs that must start fast: over the exchange, without the contract and its schemas.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { defined } from "@coffer/domain/Defined"
import { secretKeyForm } from "@coffer/domain/NameForms"
import type { AnyApiError } from "@coffer/domain/Errors"
import { toApiError } from "./ApiFailure.js"
import { type ServerUnreachable, type SignInError, UnexpectedResponse, type UnknownApiError } from "./ClientErrors.js"
import type { ApiRequest, Exchange, ExchangeFailure } from "./Exchange.js"
import { parseJson } from "./ParseJson.js"
import { count, type Decode, field, list, matching, optional, text, value } from "./PlainRecord.js"
import { headerOf, type HttpResponse, textOf } from "./Send.js"

/** The path parameters of an environment, as the contract names them. */
export interface EnvNames {
  readonly org_name: string
  readonly project_name: string
  readonly env_name: string
}

/** What a call fails with: each error of the contract is its own class. */
export type CallFailure = AnyApiError | ServerUnreachable | SignInError | UnexpectedResponse | UnknownApiError

const key = matching(secretKeyForm.is)
const email = matching((found): found is string => /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(found))

const readSecret = (found: unknown) =>
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

const readWritten = (found: unknown) =>
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

const readListed = (found: unknown) =>
  Option.zipWith(
    Option.all({
      key: field(found, "key", key),
      version: field(found, "version", count),
      updated_at: field(found, "updated_at", text)
    }),
    Option.all({
      expires_at: optional(found, "expires_at", text),
      rotate_every_days: optional(found, "rotate_every_days", count),
      owner: optional(found, "owner", email),
      due_at: optional(found, "due_at", text)
    }),
    (secret, due) => ({ ...secret, ...defined(due) })
  )

/** A secret in a list, without its value. */
export type PlainListed = Option.Option.Value<ReturnType<typeof readListed>>

const readBundled = (found: unknown) =>
  Option.all({ key: field(found, "key", key), value: field(found, "value", value) })

const readRefusal = (found: unknown) =>
  Option.all({
    key: field(found, "key", key),
    code: field(found, "code", text),
    message: field(found, "message", text)
  })

const readBundle = (found: unknown) =>
  Option.all({
    revision: field(found, "revision", count),
    secrets: field(found, "data", list(readBundled)),
    refused: Option.map(optional(found, "errors", list(readRefusal)), (errors) => errors ?? [])
  })

/** The secrets of an environment at one revision, and the keys whose references lead to no value. */
export type PlainBundle = Option.Option.Value<ReturnType<typeof readBundle>>

/** The decoders, for the property that holds them to the contract. */
export const decoders = { readSecret, readWritten, readListed, readBundle }

/** The errors of the contract in place of the service's refusals. */
export const withApiErrors = <A>(exchanged: Effect.Effect<A, ExchangeFailure>): Effect.Effect<A, CallFailure> =>
  Effect.catchTag(exchanged, "Refused", toApiError)

const decodeWith =
  <A>({ url }: Exchange, decode: Decode<A>) =>
  (response: HttpResponse): Effect.Effect<A, UnexpectedResponse> =>
    Option.match(Option.flatMap(parseJson(textOf(response)), decode), {
      onNone: () => Effect.fail(new UnexpectedResponse({ url, status: response.status })),
      onSome: Effect.succeed
    })

const call = <A>(exchange: Exchange, request: ApiRequest, decode: Decode<A>): Effect.Effect<A, CallFailure> =>
  Effect.flatMap(withApiErrors(exchange.send(request)), decodeWith(exchange, decode))

const envUrl = ({ url }: Exchange, { env_name, org_name, project_name }: EnvNames, rest: string) =>
  new URL(`${url}/api/orgs/${org_name}/projects/${project_name}/envs/${env_name}/${rest}`)

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

/** Lists the secrets of an environment, without values. */
export const listSecrets = (exchange: Exchange, place: EnvNames) =>
  call(exchange, { url: envUrl(exchange, place, "secrets"), method: "GET" }, (found) =>
    Option.map(field(found, "data", list(readListed)), (data) => ({ data }))
  )

/** Writes a new version of a secret. */
export const setSecret = (
  exchange: Exchange,
  place: EnvNames,
  name: string,
  payload: { readonly value: Redacted.Redacted; readonly kind?: "reference"; readonly expected_version?: number }
) => {
  const body = { ...payload, value: Redacted.value(payload.value) }
  const request: ApiRequest = {
    url: envUrl(exchange, place, `secrets/${name}`),
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(body))
  }
  return call(exchange, request, readWritten)
}

export interface BundleQuery {
  /** The keys to read; empty means all. */
  readonly keys: ReadonlyArray<string>
  /** The ETag of the bundle that the caller has. */
  readonly etag?: string | undefined
}

export interface BundleResponse {
  readonly etag: string | undefined
  readonly bundle: PlainBundle
}

/**
 * Reads the secrets of an environment. Returns none if nothing has changed since the ETag.
 *
 * @param send whether to retry: `once` or `send` of the exchange
 */
export const readBundleOf = (
  exchange: Exchange,
  send: Exchange["send"],
  place: EnvNames,
  { etag, keys }: BundleQuery
): Effect.Effect<Option.Option<BundleResponse>, CallFailure> => {
  const url = envUrl(exchange, place, "bundle")
  if (keys.length > 0) url.searchParams.set("keys", keys.join(","))
  const request: ApiRequest = { url, method: "GET", headers: defined({ "if-none-match": etag }) }
  return Effect.flatMap(withApiErrors(send(request)), (response) => {
    if (response.status === 304 && etag !== undefined) return Effect.succeedNone
    const read = decodeWith(exchange, readBundle)(response)
    return Effect.map(read, (bundle) => Option.some({ etag: headerOf(response, "etag"), bundle }))
  })
}
