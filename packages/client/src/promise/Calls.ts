import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { breakingGlass, withReason } from "../internal/Asking.js"
import { type ClientError, InvalidRequest, unexpectedResponse } from "../internal/ClientErrors.js"
import type { ApiRequest, Exchange, ExchangeFailure } from "../internal/Exchange.js"
import { parseJson } from "../internal/ParseJson.js"
import { type HttpResponse, textOf } from "../internal/Send.js"
import type { Api, Asking, Call, Group } from "./CallTypes.js"
import { CallError } from "./CallError.js"
import type { ChangeRequested } from "./Contract.js"
import { problemOf, routeOf, unknownName } from "./CheckRequest.js"
import { apiErrors, routes } from "./Routes.js"

interface Parts {
  readonly path?: Readonly<Record<string, string>>
  readonly urlParams?: Readonly<Record<string, boolean | number | string | undefined>>
  readonly payload?: unknown
}

/** A part of a path that is empty, or that a URL takes for a step of its own, would lead to another call. */
const encodePart = (name: string, value: string | undefined) =>
  value === undefined || /^\.{0,2}$/.test(value)
    ? Either.left(new InvalidRequest({ field: `path.${name}`, reason: "must name something" }))
    : Either.right(encodeURIComponent(value))

const requestOf = (base: string, text: string, given: Parts): Either.Either<ApiRequest, InvalidRequest> => {
  const route = routeOf(text)
  const problem = problemOf(route, given)
  if (problem !== undefined) return Either.left(problem)
  const { path = {}, payload, urlParams = {} } = given
  const { method, template } = route
  const encoded = Either.all(Object.fromEntries(route.path.all.map((name) => [name, encodePart(name, path[name])])))
  return Either.map(encoded, (parts) => {
    const url = new URL(base + template.replace(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? ""))
    for (const [name, value] of Object.entries(urlParams))
      if (value !== undefined) url.searchParams.set(name, String(value))
    if (payload === undefined) return { url, method }
    const body = new TextEncoder().encode(JSON.stringify(payload))
    return { url, method, headers: { "content-type": "application/json" }, body }
  })
}

export const failureOf = (failure: ClientError | ExchangeFailure): CallError => {
  const { message } = failure
  const status = "status" in failure ? failure.status : undefined
  if (failure._tag !== "Refused") return new CallError(failure._tag, message, { status })
  const { code, response, retryAfter } = failure
  return new CallError(apiErrors[code]?.[0] ?? "UnknownApiError", message, { status: response.status, retryAfter })
}

const isRequest = (found: unknown): found is ChangeRequested =>
  Predicate.hasProperty(found, "id") && Predicate.isString(found.id)

const decode = (url: string, response: HttpResponse) => {
  const { status } = response
  if (status === 204 || status === 304) return Effect.succeed(undefined)
  const found = parseJson(textOf(response))
  if (Option.isNone(found)) return Effect.fail(failureOf(unexpectedResponse(url, response)))
  const request = found.value
  if (status !== 202 || !isRequest(request)) return Effect.succeed(request)
  return Effect.fail(
    new CallError("ChangeRequested", `the change waits for votes: request ${request.id}`, { request, status })
  )
}

const asked =
  ({ breakGlass, reason }: Asking) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const explained = reason === undefined ? effect : withReason(reason)(effect)
    return breakGlass === undefined ? explained : breakingGlass(breakGlass)(explained)
  }

const isApi = <Name extends Group>(made: object, group: Name): made is Api<Name> =>
  Object.keys(routes[group]).every((name) => name in made)

/** Fails with a sentence for the name of a call that does not exist. A promise that resolves with the calls asks for `then`. */
const knownCalls = <A extends object>(group: string, calls: A): A =>
  new Proxy(calls, {
    get: (target, name) => {
      if (typeof name === "symbol" || name === "then" || Object.hasOwn(target, name)) return Reflect.get(target, name)
      throw failureOf(unknownName(`call of ${group}`, name, Object.keys(target)))
    }
  })

/** Makes calls over an exchange, whose requests have the credential, deadlines and retries. */
export const callsOver =
  ({ send, url }: Exchange): Call =>
  async (group, f, asking = {}) => {
    const callOf =
      (route: string) =>
      async (parts: Parts = {}) => {
        const sent = await Effect.flatMap(requestOf(url, route, parts), send).pipe(
          Effect.mapError(failureOf),
          Effect.flatMap((response) => decode(url, response)),
          asked(asking),
          Effect.either,
          Effect.runPromise
        )
        return Either.getOrThrowWith(sent, (failure) => failure)
      }
    if (!Object.hasOwn(routes, group)) throw failureOf(unknownName("group of calls", group, Object.keys(routes)))
    const found: Readonly<Record<string, string>> = routes[group]
    const made = Object.fromEntries(Object.entries(found).map(([name, route]) => [name, callOf(route)]))
    const api = knownCalls(group, made)
    if (!isApi(api, group)) throw new Error(`there is no group ${group} of calls`)
    return f(api)
  }
