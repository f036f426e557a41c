import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { type ClientError, UnexpectedResponse, UnknownApiError } from "./ClientErrors.js"
import { parseJson } from "./ParseJson.js"

/** The parts of a response that `classifyResponse` needs. */
export interface Unexpected {
  readonly url: string
  readonly status: number
  readonly location: string | undefined
  readonly body: string
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

/** Turns an unexpected response into an error: `UnknownApiError` if it is an envelope, else `UnexpectedResponse`. */
export const classifyResponse = ({ body, location, status, url }: Unexpected): UnexpectedResponse | UnknownApiError =>
  Option.match(decodeEnvelope(body), {
    onNone: () => {
      const redirect = status >= 300 && status < 400 ? originOf(location, url) : undefined
      return new UnexpectedResponse({ url, status, ...(redirect === undefined ? {} : { redirect }) })
    },
    onSome: ({ code, message }) => new UnknownApiError({ status, code, message })
  })

const busy = new Set([502, 503, 504])

/** Whether the server rejected the request as overloaded, before it had any effect: every request may be retried. */
export const isOverloaded = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code") && error.code === "OVERLOADED"

/** Whether a read may be retried after this error. */
export const mayRetry = (error: ClientError): boolean =>
  error._tag === "ServerUnreachable"
    ? error.transient
    : error._tag === "UnexpectedResponse"
      ? busy.has(error.status)
      : isOverloaded(error)

/** Exponential backoff with jitter; one second after OVERLOADED, as its `Retry-After` says. */
export const retrySchedule = Schedule.identity<unknown>().pipe(
  Schedule.intersect(Schedule.exponential("150 millis")),
  Schedule.modifyDelay(([error], delay) => (isOverloaded(error) ? "1 second" : delay)),
  Schedule.jittered
)
