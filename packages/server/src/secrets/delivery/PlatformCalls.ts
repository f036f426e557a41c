import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { sharedBounds } from "../../base/SharedBounds.js"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { Outbound, type OutboundRequest, type OutboundResponse } from "../../base/outbound/Outbound.js"
import { parseBody } from "../../http/ParseJson.js"
import { PlatformFailed } from "./PlatformFailed.js"

/** How long one call of a platform takes at most. */
const timeout = "10 seconds"
/** How much of a response is read. A list of all keys of a target is the longest. */
const maxBytes = 2 * 1024 * 1024

interface Call extends Pick<OutboundRequest, "url" | "method" | "headers"> {
  readonly json?: unknown
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

/** Parses a response, a large one in the thread for bodies: people choose the platform, and with it the text. */
const parsed = (body: Uint8Array): Effect.Effect<unknown> =>
  body.length === 0 ? Effect.succeed(undefined) : Effect.orElseSucceed(parseBody(body), () => undefined)

const headerOf =
  ({ headers }: OutboundResponse) =>
  (name: string): string | undefined => {
    const found = headers[name]
    return Predicate.isString(found) ? found : found?.[0]
  }

/** Seconds that a platform asks to wait, as `Retry-After` has them; GitHub and Vercel give the end of a window instead. */
const waitOf = (header: Answered["header"]): number | undefined => {
  const after = header("retry-after")
  return after !== undefined && /^[0-9]{1,6}$/.test(after) ? Number(after) : undefined
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
  const ask: Ask = ({ also = [], headers = {}, json, method = "GET", url }) =>
    Effect.gen(function* () {
      const response = yield* slots
        .inside(
          outbound.request({
            ...{ url, method, timeout, maxBytes },
            headers: {
              accept: "application/json",
              "user-agent": "coffer",
              ...(json !== undefined && { "content-type": "application/json" }),
              ...headers
            },
            ...(json !== undefined && { body: JSON.stringify(json) })
          })
        )
        .pipe(
          Effect.mapError(
            ({ message, reason }) =>
              new PlatformFailed({ reason: message, isUndone: reason !== "connection" && reason !== "timeout" })
          )
        )
      const header = headerOf(response)
      const { body, status, truncated } = response
      const isTaken = (status >= 200 && status < 300) || also.includes(status)
      if (!isTaken) {
        const wait = waitOf(header)
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
