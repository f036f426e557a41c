import * as Effect from "effect/Effect"
import { ServerConfig } from "../../base/Config.js"
import type { Client } from "./ProviderClient.js"

const none: { readonly client: Client | null } = { client: null }

/** The provider of single sign-on, by OpenID Connect; null if none is configured. */
export class Provider extends Effect.Service<Provider>()("@coffer/server/Provider", {
  scoped: Effect.gen(function* () {
    const { provider, publicUrl } = yield* ServerConfig
    if (provider === null || publicUrl === null) return none
    // Loaded on demand, because the library costs memory and startup time.
    const { makeClient } = yield* Effect.promise(() => import("./ProviderClient.js"))
    return { client: yield* makeClient(provider, publicUrl) }
  })
}) {}
