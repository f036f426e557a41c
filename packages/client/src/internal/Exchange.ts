import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { asking } from "./Asking.js"
import { classifyResponse, isGood, isOverloaded, mayRetry, type Refused, retryDelay } from "./ClassifyResponse.js"
import type { ServerUnreachable, SignInError, UnexpectedResponse } from "./ClientErrors.js"
import type { HttpRequest, HttpResponse, RequestFailed, Send } from "./Send.js"

/** A request without the headers that all have. */
export interface ApiRequest extends Omit<HttpRequest, "headers"> {
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the request may be repeated when it is not known what it did. By default, reads alone. */
  readonly isRepeatable?: boolean
}

/** How many seconds a request of the fiber may take, if not as many as usual. */
const patience = FiberRef.unsafeMake<number | undefined>(undefined)

/** Lets requests take an hour: a verification reads a whole audit log. */
export const patiently = Effect.locally(patience, 3_600)

/** A refusal is the service's; everything else came before the service or is not its response. */
export type ExchangeFailure = Refused | ServerUnreachable | SignInError | UnexpectedResponse

/** Requests to one server. They succeed with 2xx and 304. */
export interface Exchange {
  /** The prefix of all request paths. */
  readonly url: string
  /** Sends a request, once. */
  readonly once: (request: ApiRequest) => Effect.Effect<HttpResponse, ExchangeFailure>
  /** Sends a request. Retries reads after transient errors, and every request after OVERLOADED or STORAGE_FULL, at most twice. */
  readonly send: (request: ApiRequest) => Effect.Effect<HttpResponse, ExchangeFailure>
}

export interface ExchangeOptions {
  readonly url: string
  readonly send: Send
  /** The headers of the next request, such as the credential. */
  readonly headers: Effect.Effect<Readonly<Record<string, string>>, SignInError>
  readonly unreachable: (failed: RequestFailed) => ServerUnreachable
  readonly noResponseWithin: (seconds: number) => ServerUnreachable
  /** Receives the status of every response. */
  readonly noteStatus: (status: number) => void
}

const maxRetries = 2

const isRepeatable = ({ isRepeatable, method }: ApiRequest): boolean => isRepeatable ?? method === "GET"

const headersFor = ({ method }: ApiRequest) => (method === "GET" ? Effect.succeed({}) : FiberRef.get(asking))

/**
 * The one implementation of what every client of the service does with a request: it sends the credential, limits the time,
 * classifies the response and retries.
 */
export const makeExchange = (options: ExchangeOptions): Exchange => {
  const { noResponseWithin, noteStatus, unreachable, url } = options
  const check = (response: HttpResponse) => {
    noteStatus(response.status)
    return isGood(response.status) ? Effect.succeed(response) : Effect.fail(classifyResponse(url, response))
  }
  const once = (request: ApiRequest) => {
    const usual = isRepeatable(request) ? 30 : 120
    const headers = Effect.zipWith(headersFor(request), options.headers, (own, all) => ({ ...own, ...all }))
    return Effect.flatMap(headers, (headers) =>
      Effect.flatMap(FiberRef.get(patience), (seconds = usual) =>
        options
          .send({ ...request, headers: { ...request.headers, ...headers } })
          .pipe(
            Effect.mapError(unreachable),
            Effect.timeoutFail({ duration: Duration.seconds(seconds), onTimeout: () => noResponseWithin(seconds) }),
            Effect.flatMap(check)
          )
      )
    )
  }
  const attempt = (request: ApiRequest, retries: number): ReturnType<typeof once> =>
    Effect.catchAll(once(request), (failure) => {
      const isTransient = isOverloaded(failure) || (isRepeatable(request) && mayRetry(failure))
      if (retries === maxRetries || !isTransient) return Effect.fail(failure)
      return Effect.flatMap(retryDelay(failure, retries), (delay) => Effect.delay(attempt(request, retries + 1), delay))
    })
  const send = (request: ApiRequest) => attempt(request, 0)
  return { url, once, send }
}
