import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { sharedBounds } from "../../base/SharedBounds.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { monotonicMillis } from "../../base/Time.js"
import { Outbound, type OutboundRequest, type OutboundResponse } from "../../base/outbound/Outbound.js"
import { parseBody } from "../../http/ParseJson.js"
import { PlatformFailed } from "./PlatformFailed.js"

/** How long one call of a platform takes at most. */
export const callMillis = 10_000
/** How much of a response is read. A list of all keys of a target is the longest. */
const maxBytes = 2 * 1024 * 1024

interface Call extends Pick<OutboundRequest, "url" | "method" | "headers" | "ca"> {
  readonly json?: unknown
  /** The body instead of `json`, for those who sign it. */
  readonly body?: string
  /** Statuses besides those of 2xx that the caller takes. */
  readonly also?: ReadonlyArray<number>
}

/** The response of a platform. */
export interface Answered {
  readonly status: number
  readonly header: (name: string) => string | undefined
  /** The body as JSON; undefined if it is none. */
  readonly json: unknown
}

/** Calls a platform. Fails for a status that is not taken; the failure has nothing of the response but that. */
export type Ask = (call: Call) => Effect.Effect<Answered, PlatformFailed>

/**
 * The time after which no call may begin, by the monotonic clock in milliseconds. A process that was paused, or has waited for its
 * turn for too long, would send what another push has replaced meanwhile.
 */
export class SendBefore extends Context.Reference<SendBefore>()("@coffer/server/SendBefore", {
  defaultValue: () => Infinity
}) {}

const tooLate = new PlatformFailed({
  reason: "the push was stopped for too long, and another one may go on",
  isUndone: true
})

/** Parses a response, a large one in the thread for bodies: people choose the platform, and with it the text. */
const parsed = (body: Uint8Array): Effect.Effect<unknown> =>
  body.length === 0 ? Effect.succeed(undefined) : Effect.orElseSucceed(parseBody(body), () => undefined)

const headerOf =
  ({ headers }: OutboundResponse) =>
  (name: string): string | undefined => {
    const found = headers[name]
    return Predicate.isString(found) ? found : found?.[0]
  }

const most = 6 * 60 * 60

/**
 * Seconds that a platform asks to wait: by `Retry-After` in seconds or as a time, or, where nothing is left of a window, until its end.
 * GitHub, GitLab and Vercel tell that end. Without either, a minute, which GitHub's secondary limit asks for.
 */
const waitOf = (status: number, header: Answered["header"], millis: number): number | undefined => {
  const after = header("retry-after")
  const until = (time: number) => Math.min(Math.max(Math.ceil((time - millis) / 1000), 1), most)
  if (after !== undefined && /^[0-9]{1,6}$/.test(after)) return Math.min(Number(after), most)
  if (after !== undefined && !Number.isNaN(Date.parse(after))) return until(Date.parse(after))
  const limit = (name: string) => header(`x-ratelimit-${name}`) ?? header(`ratelimit-${name}`)
  const reset = limit("reset")
  if (
    (status === 429 || status === 403) &&
    limit("remaining") === "0" &&
    reset !== undefined &&
    /^[0-9]{1,11}$/.test(reset)
  ) {
    return until(Number(reset) * 1000)
  }
  return status === 429 ? 60 : undefined
}

const sentences: Readonly<Record<number, string>> = {
  401: "it does not take the credential",
  403: "the credential may not do this there",
  404: "the place does not exist there, or the credential may not see it",
  413: "it refuses the size",
  429: "it asks for fewer calls"
}

/** Makes calls of platforms: to vetted addresses, without redirects, the tenants in turn. */
export const makePlatformCalls = Effect.map(Outbound, (outbound) => {
  const slots = makeFairSemaphore(sharedBounds.pushes)
  const ask: Ask = ({ also = [], body: given, ca, headers = {}, json, method = "GET", url }) =>
    Effect.gen(function* () {
      const sent = given ?? (json === undefined ? undefined : JSON.stringify(json))
      const before = yield* SendBefore
      const request = outbound
        .request({
          ...{ url, method, timeout: callMillis, maxBytes },
          headers: {
            accept: "application/json",
            "user-agent": "coffer",
            ...(sent !== undefined && { "content-type": "application/json" }),
            ...headers
          },
          ...(sent !== undefined && { body: sent }),
          ...(ca !== undefined && { ca })
        })
        .pipe(
          Effect.mapError(
            ({ message, reason }) =>
              new PlatformFailed({ reason: message, isUndone: reason !== "connection" && reason !== "timeout" })
          )
        )
      const response = yield* slots.inside(
        Effect.flatMap(monotonicMillis, (millis) => (millis < before ? request : tooLate))
      )
      const header = headerOf(response)
      const { body, status, truncated } = response
      const isTaken = (status >= 200 && status < 300) || also.includes(status)
      if (!isTaken) {
        const wait = waitOf(status, header, yield* Clock.currentTimeMillis)
        return yield* new PlatformFailed({
          reason: `it answered with the status ${status}${sentences[status] === undefined ? "" : `: ${sentences[status]}`}`,
          isUndone: status < 500,
          ...(wait !== undefined && { retryAfterSeconds: wait })
        })
      }
      if (truncated) return yield* new PlatformFailed({ reason: "its response is too long", isUndone: false })
      return { status, header, json: yield* parsed(body) }
    })
  return ask
})
