/** The calls of programs that must start fast: over the exchange, without the contract and its schemas. */
import { defined } from "@coffer/domain/base/Defined"
import type { AnyApiError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { toApiError } from "./ApiFailure.js"
import {
  type ServerUnreachable,
  type SignInError,
  type UnexpectedResponse,
  unexpectedResponse,
  type UnknownApiError
} from "./ClientErrors.js"
import type { ApiRequest, Exchange, ExchangeFailure } from "./Exchange.js"
import { parseJson } from "./ParseJson.js"
import { type Decode, field, list } from "./PlainRecord.js"
import { type PlainBundle, readBundle, readListed } from "./SecretRecords.js"
import { headerOf, type HttpResponse, textOf } from "./Send.js"

/** The path parameters of an environment, as the contract names them. */
export interface EnvNames {
  readonly org_name: string
  readonly project_name: string
  readonly env_name: string
}

/** The errors of a call: each error of the contract is its own class. */
export type CallFailure = AnyApiError | ServerUnreachable | SignInError | UnexpectedResponse | UnknownApiError

/** The errors of the contract in place of the service's refusals. */
export const withApiErrors = <A>(exchanged: Effect.Effect<A, ExchangeFailure>): Effect.Effect<A, CallFailure> =>
  Effect.catchTag(exchanged, "Refused", toApiError)

/** Decodes a response. */
export const decodeWith =
  <A>({ url }: Exchange, decode: Decode<A>) =>
  (response: HttpResponse): Effect.Effect<A, UnexpectedResponse> =>
    Option.match(Option.flatMap(parseJson(textOf(response)), decode), {
      onNone: () => Effect.fail(unexpectedResponse(url, response)),
      onSome: Effect.succeed
    })

/** Sends a request and decodes its response. */
export const call = <A>(exchange: Exchange, request: ApiRequest, decode: Decode<A>): Effect.Effect<A, CallFailure> =>
  Effect.flatMap(withApiErrors(exchange.send(request)), decodeWith(exchange, decode))

export const envUrl = ({ url }: Exchange, { env_name, org_name, project_name }: EnvNames, rest: string) =>
  new URL(`${url}/api/orgs/${org_name}/projects/${project_name}/envs/${env_name}/${rest}`)

/** Lists the secrets of an environment, without values. */
export const listSecrets = (exchange: Exchange, place: EnvNames) =>
  call(exchange, { url: envUrl(exchange, place, "secrets"), method: "GET" }, (found) =>
    Option.map(field(found, "data", list(readListed)), (data) => ({ data }))
  )

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
