import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import { Data, Duration, Effect, FiberRef, Option, Redacted } from "effect"
import { errorCodes } from "../Errors.js"
import { isOverloaded, classifyResponse, mayRetry, retrySchedule } from "./ClassifyResponse.js"
import type { ClientError, UnexpectedResponse, UnknownApiError } from "./ClientErrors.js"
import { noAnswerWithin, serverUnreachable } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
import type { ServerUrl } from "./ServerUrl.js"

/** The fiber's last response, classified. The toolkit's decode error does not contain the response. */
export const lastAnswer = FiberRef.unsafeMake<Option.Option<UnexpectedResponse | UnknownApiError>>(Option.none())

const classify = (url: string, { headers, status }: HttpClientResponse, body: string) =>
  classifyResponse({ url, status, location: headers["location"], body })

/** The server rejected the request as overloaded, before it had any effect. */
class Busy extends Data.TaggedError("Busy")<{ readonly response: HttpClientResponse }> {
  readonly code = "OVERLOADED"
}

const isGood = (status: number) => (status >= 200 && status < 300) || status === 304

const withCredential = (credential: Credential) =>
  credential.type === "api_key"
    ? HttpClientRequest.setHeader("x-api-key", Redacted.value(credential.secret))
    : HttpClientRequest.bearerToken(credential.secret)

const noteRefusal = ({ status }: HttpClientResponse, credential: Option.Option<Credential>) => {
  if (status === 401 && Option.isSome(credential) && credential.value.type === "federated") credential.value.expire()
}

/**
 * Wraps an HTTP client for one server. Adds the credential, rejects redirects, and limits the time of a request. Retries
 * reads after transient errors, and every request after OVERLOADED, at most twice. Fails on responses outside the contract.
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
  const unreachable = ({ cause }: HttpClientError) => serverUnreachable(url, cause)

  const check = Effect.fnUntraced(function* (response: HttpClientResponse) {
    const text = isGood(response.status) ? "" : yield* Effect.mapError(response.text, unreachable)
    const answer = classify(url, response, text)
    yield* FiberRef.set(lastAnswer, Option.some(answer))
    noteRefusal(response, options.credential)
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
      onSome: (credential) =>
        // If the renewal fails, the server's answer says that the session has ended.
        HttpClient.mapRequestEffect((request) =>
          Effect.zipRight(
            credential.type === "federated" ? Effect.ignore(credential.refresh) : Effect.void,
            Effect.sync(() => withCredential(credential)(request))
          )
        )
    }),
    // Only the server is traced.
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.withTracerPropagation(false),
    HttpClient.transform((send, request) => {
      const reading = request.method === "GET"
      const seconds = reading ? 30 : 120
      return send.pipe(
        Effect.mapError(unreachable),
        Effect.flatMap(check),
        Effect.timeoutFail({
          duration: Duration.seconds(seconds),
          onTimeout: () => noAnswerWithin(url, seconds)
        }),
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
