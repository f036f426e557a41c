import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { groupClients } from "./ApiClient.js"
import type { Credential } from "./Credentials.js"
import { nodeHttpClient } from "./NodeHttpClient.js"
import { makeSend } from "./NodeRequest.js"
import { type ServerUrl, warnOfClearText } from "./ServerUrl.js"
import { transport } from "./Transport.js"
import { typedCalls } from "./TypedCalls.js"

export interface ClientOptions {
  readonly server: ServerUrl
  /** None for endpoints that need no credential. The caller has checked that this server may receive it. */
  readonly credential: Option.Option<Credential>
  /** Sent to the server, for its log. */
  readonly program: "cli" | "mcp"
  readonly version: string
}

/** The typed client: `client.call("secrets", (api) => api.get({ path, urlParams: {} }))`. */
export class CofferClient extends Effect.Service<CofferClient>()("@coffer/domain/CofferClient", {
  scoped: Effect.fnUntraced(function* (options: ClientOptions) {
    const { credential, server } = options
    if (Option.isSome(credential)) yield* warnOfClearText(server)
    const httpClient = transport(nodeHttpClient(yield* makeSend(server)), options)
    const call = typedCalls(groupClients({ httpClient, baseUrl: server.base }))

    return { call } as const
  })
}) {}

/** A client whose connections are closed with the scope. */
export const makeClient = (options: ClientOptions): Effect.Effect<CofferClient, never, Scope.Scope> =>
  Effect.map(Layer.build(CofferClient.Default(options)), Context.get(CofferClient))
