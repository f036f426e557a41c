import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import {
  type ServerUnreachable,
  type SignInError,
  type UnexpectedResponse,
  unexpectedResponse
} from "./ClientErrors.js"
import { parseJson } from "./ParseJson.js"
import { headerOf, type HttpResponse, textOf } from "./Send.js"

/** The service refused the request: an envelope came. `toApiError` makes an error of the contract of it. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly response: HttpResponse
  readonly code: string
  readonly message: string
}> {
  get retryAfter(): number | undefined {
    const seconds = headerOf(this.response, "retry-after")
    return seconds !== undefined && /^[0-9]{1,6}$/.test(seconds) ? Number(seconds) : undefined
  }
}

/** Decodes the service's error envelope. None if the body is something else, such as another program's page. */
const decodeEnvelope = (body: string): Option.Option<{ readonly code: string; readonly message: string }> =>
  Option.flatMap(parseJson(body), (found) => {
    if (!Predicate.hasProperty(found, "error")) return Option.none()
    const { error } = found
    if (!Predicate.hasProperty(error, "code") || typeof error.code !== "string") return Option.none()
    if (!Predicate.hasProperty(error, "message") || typeof error.message !== "string") return Option.none()
    return Option.some({ code: error.code, message: error.message })
  })

const originOf = (text: string | undefined, base: string) =>
  text === undefined || !URL.canParse(text, base) ? undefined : new URL(text, base).origin

export const isGood = (status: number): boolean => (status >= 200 && status < 300) || status === 304

/** The error for a response that is no success, or does not fit the contract: `Refused` if it is an envelope. */
export const classifyResponse = (url: string, response: HttpResponse): Refused | UnexpectedResponse => {
  const { status } = response
  const envelope = isGood(status) ? Option.none() : decodeEnvelope(textOf(response))
  if (Option.isSome(envelope)) return new Refused({ response, ...envelope.value })
  const redirect = status >= 300 && status < 400 ? originOf(headerOf(response, "location"), url) : undefined
  return unexpectedResponse(url, response, redirect)
}

const busy = new Set([502, 503, 504])

/** The codes of refusals before any effect, which say when to try again. */
const withoutEffect: ReadonlyArray<unknown> = ["OVERLOADED", "STORAGE_FULL"]

/** Whether the server had no room for the request, which had no effect: every request may be retried. */
export const isOverloaded = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code") && withoutEffect.includes(error.code)

/** Whether a read may be retried after this error. */
export const mayRetry = (error: Refused | ServerUnreachable | SignInError): boolean => {
  if (error._tag === "ServerUnreachable") return error.transient
  return error._tag === "UnexpectedResponse" ? busy.has(error.status) : isOverloaded(error)
}

/** Seconds. A person or a program waits. */
const longestWait = 30

const waitOf = (error: unknown): number | undefined => {
  if (!(error instanceof Refused)) return undefined
  return Math.min(error.retryAfter ?? 1, longestWait)
}

/**
 * How long to wait before a retry: exponential backoff with jitter; after a refusal without effect, at least as long as its
 * `Retry-After` says. Without `Schedule`, which would be a fortieth of the console's first script.
 *
 * @param retries the number of retries before this one
 */
export const retryDelay = (failure: unknown, retries: number): Effect.Effect<Duration.Duration> => {
  const seconds = waitOf(failure)
  const [millis, least] = seconds === undefined ? [150 * 2 ** retries, 0.8] : [seconds * 1_000, 1]
  return Effect.map(Random.nextRange(least, 1.2), (factor) => Duration.millis(millis * factor))
}
