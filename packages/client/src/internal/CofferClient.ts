import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { connectTo, type ConnectionOptions } from "./Connection.js"
import { warnOfClearText } from "./ServerUrl.js"
import { typedCalls } from "./TypedCalls.js"

/** The typed client: `client.call("secrets", (api) => api.get({ path, urlParams: {} }))`. */
export class CofferClient extends Effect.Service<CofferClient>()("@coffer/client/CofferClient", {
  scoped: Effect.fnUntraced(function* (options: ConnectionOptions) {
    if (Option.isSome(options.credential)) yield* warnOfClearText(options.server)
    const exchange = yield* connectTo(options)
    return { call: typedCalls(exchange), exchange } as const
  })
}) {}

/** A client whose connections are closed with the scope. */
export const makeClient = (options: ConnectionOptions): Effect.Effect<CofferClient, never, Scope.Scope> =>
  Effect.map(Layer.build(CofferClient.Default(options)), Context.get(CofferClient))
