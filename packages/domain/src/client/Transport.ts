import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import { Data, Duration, Effect, FiberRef, Option, Redacted } from "effect"
import { errorCodes } from "../Errors.js"
import { isOverloaded, classifyResponse, mayRetry, retrySchedule } from "./ClassifyResponse.js"
import { type ClientError, ServerUnreachable, type UnexpectedResponse, type UnknownApiError } from "./ClientErrors.js"
import { connectionProblem, isTransient } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
import type { ServerUrl } from "./ServerUrl.js"

/** What was answered last in a fiber: what a response was is not in the error that says it could not be decoded. */
export const lastAnswer = FiberRef.unsafeMake<Option.Option<UnexpectedResponse | UnknownApiError>>(Option.none())

/** What this answer is to a caller that did not expect it. */
const classify = (url: string, { headers, status }: HttpClientResponse, body: string) =>
  classifyResponse({ url, status, location: headers["location"], body })

/** The server did nothing yet, because it holds as much as it may. */
class Busy extends Data.TaggedError("Busy")<{ readonly response: HttpClientResponse }> {
  readonly code = "OVERLOADED"
}

const isGood = (status: number) => (status >= 200 && status < 300) || status === 304

const withCredential = (credential: Credential) =>
  credential.type === "session"
    ? HttpClientRequest.bearerToken(credential.secret)
    : HttpClientRequest.setHeader("x-api-key", Redacted.value(credential.secret))

/**
 * A client that speaks to one server: adds the credential, follows no redirect, reads the whole answer within a time,
 * tries a read again (twice at most) when the server was not there for a moment, and anything when the server was overloaded
 * and did nothing; lets pass only what the contract knows.
 */
export const transport = (
  client: HttpClient.HttpClient,
  options: {
    readonly server: ServerUrl
    readonly credential: Option.Option<Credential>
    readonly program: string
    readonly version: string
  }
): HttpClient.HttpClient.With<ClientError | HttpClientError> => {
  const url = options.server.base
  const unreachable = (error: HttpClientError) =>
    new ServerUnreachable({ url, reason: connectionProblem(error.cause), transient: isTransient(error.cause) })

  const check = Effect.fnUntraced(function* (response: HttpClientResponse) {
    // Read here whatever it is, so that a connection that breaks in the middle is known as such.
    const body = yield* Effect.mapError(response.arrayBuffer, unreachable)
    const text = isGood(response.status) ? "" : new TextDecoder().decode(body)
    const answer = classify(url, response, text)
    yield* FiberRef.set(lastAnswer, Option.some(answer))
    if (isOverloaded(answer)) return yield* new Busy({ response })
    if (isGood(response.status) || (answer._tag === "UnknownApiError" && errorCodes.has(answer.code))) return response
    return yield* answer
  })

  return client.pipe(
    HttpClient.mapRequest(
      HttpClientRequest.setHeaders({
        "user-agent": `coffer/${options.version}`,
        "x-coffer-client": options.program
      })
    ),
    Option.match(options.credential, {
      onNone: () => HttpClient.mapRequest((request) => request),
      onSome: (credential) => HttpClient.mapRequest(withCredential(credential))
    }),
    // Spans and their headers are the server's business.
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.withTracerPropagation(false),
    HttpClient.transform((send, request) => {
      const reading = request.method === "GET"
      const seconds = reading ? 30 : 120
      return send.pipe(
        Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
        Effect.mapError(unreachable),
        Effect.flatMap(check),
        Effect.timeoutFail({
          duration: Duration.seconds(seconds),
          onTimeout: () => new ServerUnreachable({ url, reason: `no answer within ${seconds} s`, transient: false })
        }),
        Effect.retry({
          times: 2,
          schedule: retrySchedule,
          while: (error) => error._tag === "Busy" || (reading && mayRetry(error))
        }),
        // What is left after the last attempt is the contract's own error.
        Effect.catchTag("Busy", ({ response }) => Effect.succeed(response))
      )
    })
  )
}
