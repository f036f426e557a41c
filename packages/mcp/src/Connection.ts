import type { CofferClient } from "@coffer/domain/client/CofferClient"
import { type Credential, credentialFor, type CredentialError } from "@coffer/domain/client/Credentials"
import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import { Data, Effect, Option } from "effect"

/** The one door to the service. */
export type Call = CofferClient["call"]

/** The client for a server, with the credential that goes there or with none. */
export type Connect = (server: ServerUrl, withCredential: boolean) => Effect.Effect<Call, CredentialError>

/** Keeps each client that it makes, so that what there is to warn of is said once. */
export const makeConnect = Effect.fnUntraced(function* (version: string) {
  const clientFor = yield* Effect.cachedFunction(
    Effect.fnUntraced(function* (to: { readonly server: ServerUrl; readonly credential: Option.Option<Credential> }) {
      if (Option.exists(to.credential, ({ type }) => type === "session")) {
        yield* Effect.logWarning(
          "a person's session is used: the agent has all the rights of that person. Set SERVICE_API_KEY to a service account's key"
        )
      }
      // Half of what there is to load, and not needed to say which tools there are.
      const { CofferClient } = yield* Effect.promise(() => import("@coffer/domain/client/CofferClient"))
      const { call } = yield* Effect.provide(CofferClient, CofferClient.Default({ ...to, program: "mcp", version }))
      return call
    })
  )

  const connect: Connect = Effect.fnUntraced(function* (server, withCredential) {
    const credential = withCredential ? Option.some(yield* credentialFor(server)) : Option.none()
    // Compared by what they hold. A call that is cancelled must not leave a half-made client behind.
    const to = Data.struct({ server: Data.struct(server), credential: Option.map(credential, Data.struct) })
    return yield* Effect.uninterruptible(clientFor(to))
  })
  return connect
})
