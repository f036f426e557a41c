import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import { type HttpClientError, isHttpClientError } from "@effect/platform/HttpClientError"
import { Context, Effect, FiberRef, Layer, Option, ParseResult, type Scope } from "effect"
import { groupClients, type GroupClient, type GroupName } from "./ApiClient.js"
import { isOwnMessage } from "../Message.js"
import { type ClientError, InvalidRequest } from "./ClientErrors.js"
import type { Credential } from "./Credentials.js"
import { nodeHttpClient } from "./NodeHttpClient.js"
import { makeSend } from "./NodeRequest.js"
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

/** Without a response, the request did not encode. Messages other than ours may contain the value. */
const notSent = (error: ToolkitError): Effect.Effect<never, InvalidRequest> => {
  if (!ParseResult.isParseError(error)) return Effect.dieMessage("a request failed before it was sent")
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  const field = issue?.path.join(".") || "the request"
  const reason = issue !== undefined && isOwnMessage(issue.message) ? issue.message : "does not fit the contract"
  return new InvalidRequest({ field, reason })
}

/**
 * The typed client: `client.call("secrets", (api) => api.get({ path, urlParams: {} }))`. Errors that the contract declares
 * stay typed; every other failure is a `ClientError`.
 */
export class CofferClient extends Effect.Service<CofferClient>()("@coffer/domain/client/CofferClient", {
  scoped: Effect.fnUntraced(function* (options: ClientOptions) {
    const { credential, server } = options
    if (Option.isSome(credential)) yield* warnOfClearText(server)
    const httpClient = transport(nodeHttpClient(yield* makeSend(server)), options)
    const groups = groupClients({ httpClient, baseUrl: server.base })

    const call = <Name extends GroupName, A, E, R>(
      group: Name,
      f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, Exclude<E, Extract<E, ToolkitError>> | ClientError, R> =>
      Effect.flatMap(groups[group], f).pipe(
        Effect.catchIf(isToolkitError, (error) =>
          Effect.flatMap(FiberRef.get(lastAnswer), (answer): Effect.Effect<never, ClientError> =>
            Option.isSome(answer) ? Effect.fail(answer.value) : notSent(error)
          )
        ),
        Effect.locally(lastAnswer, Option.none())
      )

    return { call } as const
  })
}) {}

/** A client whose connections are closed with the scope. */
export const makeClient = (options: ClientOptions): Effect.Effect<CofferClient, never, Scope.Scope> =>
  Effect.map(Layer.build(CofferClient.Default(options)), Context.get(CofferClient))
