import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import { type HttpClientError, isHttpClientError } from "@effect/platform/HttpClientError"
import { Effect, FiberRef, Option, ParseResult } from "effect"
import { type ApiClient, makeApiClient } from "./ApiClient.js"
import type { ClientError } from "./ClientErrors.js"
import type { Credential } from "./Credentials.js"
import { type ServerUrl, warnOfClearText } from "./ServerUrl.js"
import { lastAnswer, transport } from "./Transport.js"

export interface ClientOptions {
  readonly server: ServerUrl
  /** None for endpoints that need no credential. The caller has checked that this server may receive it. */
  readonly credential: Option.Option<Credential>
  /** Sent to the server, for its log. */
  readonly program: "cli" | "mcp"
  readonly version: string
}

/** Errors of the HTTP toolkit. `call` replaces them by a `ClientError`. */
type ToolkitError = HttpClientError | ParseResult.ParseError | HttpApiDecodeError

const isToolkitError = <E>(error: E): error is Extract<E, ToolkitError> =>
  isHttpClientError(error) || ParseResult.isParseError(error) || error instanceof HttpApiDecodeError

/**
 * The typed client: `client.call((api) => api.secrets.get({ path, urlParams: {} }))`. Errors that the contract declares
 * stay typed; every other failure is a `ClientError`.
 */
export class CofferClient extends Effect.Service<CofferClient>()("@coffer/domain/client/CofferClient", {
  effect: Effect.fnUntraced(function* (options: ClientOptions) {
    const { credential, server } = options
    if (Option.isSome(credential)) yield* warnOfClearText(server)
    const httpClient = transport(yield* HttpClient.HttpClient, options)
    const api = yield* makeApiClient({ httpClient, baseUrl: server.base })

    const call = <A, E, R>(
      f: (api: ApiClient) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, Exclude<E, Extract<E, ToolkitError>> | ClientError, R> =>
      Effect.suspend(() => f(api)).pipe(
        Effect.catchIf(isToolkitError, () =>
          Effect.flatMap(
            FiberRef.get(lastAnswer),
            // Without a response, the request failed to encode: a bug. The original message may contain a secret value.
            Option.match({
              onNone: () => Effect.dieMessage("a request does not fit the contract"),
              onSome: Effect.fail
            })
          )
        ),
        Effect.locally(lastAnswer, Option.none())
      )

    return { call } as const
  }),
  dependencies: [FetchHttpClient.layer]
}) {}
