import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import { errorCodes } from "../Errors.js"
import { isOverloaded, classifyResponse, mayRetry, retrySchedule } from "./ClassifyResponse.js"
import type { ClientError, ServerUnreachable, UnexpectedResponse, UnknownApiError } from "./ClientErrors.js"

/** The fiber's last response, classified. The toolkit's decode error does not contain the response. */
export const lastResponse = FiberRef.unsafeMake<Option.Option<UnexpectedResponse | UnknownApiError>>(Option.none())

/** The server rejected the request as overloaded, before it had any effect. */
class Busy extends Data.TaggedError("Busy")<{ readonly response: HttpClientResponse }> {
  readonly code = "OVERLOADED"
}

const isGood = (status: number) => (status >= 200 && status < 300) || status === 304

const decoder = new TextDecoder()

/** The toolkit's client reads a response as bytes, and one of `fetch` can be read in one way only. */
const textOf = (response: HttpClientResponse) => Effect.map(response.arrayBuffer, (bytes) => decoder.decode(bytes))

/**
 * Limits the time of a request. Retries reads after transient errors, and every request after OVERLOADED, at most twice.
 * Fails on responses outside the contract.
 */
export const exchange = (
  client: HttpClient.HttpClient,
  {
    noResponseWithin,
    noteStatus,
    unreachable,
    url
  }: {
    readonly url: string
    readonly unreachable: (error: HttpClientError) => ServerUnreachable
    readonly noResponseWithin: (seconds: number) => ServerUnreachable
    /** Receives the status of every response. */
    readonly noteStatus: (status: number) => void
  }
): HttpClient.HttpClient.With<ClientError | HttpClientError> => {
  const check = Effect.fnUntraced(function* (response: HttpClientResponse) {
    const { headers, status } = response
    const body = isGood(status) ? "" : yield* Effect.mapError(textOf(response), unreachable)
    const classified = classifyResponse({ url, status, location: headers["location"], body })
    yield* FiberRef.set(lastResponse, Option.some(classified))
    noteStatus(status)
    if (isOverloaded(classified)) return yield* new Busy({ response })
    if (isGood(status) || (classified._tag === "UnknownApiError" && errorCodes.has(classified.code))) return response
    return yield* classified
  })

  return client.pipe(
    // Only the server is traced.
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.withTracerPropagation(false),
    HttpClient.transform((send, request) => {
      const reading = request.method === "GET"
      const seconds = reading ? 30 : 120
      return send.pipe(
        Effect.mapError(unreachable),
        Effect.flatMap(check),
        Effect.timeoutFail({ duration: Duration.seconds(seconds), onTimeout: () => noResponseWithin(seconds) }),
        Effect.retry({
          times: 2,
          schedule: retrySchedule,
          while: (error) => error._tag === "Busy" || (reading && mayRetry(error))
        }),
        // After the last attempt, pass OVERLOADED on as an error of the contract.
        Effect.catchTag("Busy", ({ response }) => Effect.succeed(response))
      )
    })
  )
}
