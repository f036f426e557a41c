import type { CofferClient } from "@coffer/client/internal/CofferClient"
import type { Credential } from "@coffer/client/internal/Credential"
import type { CredentialError } from "@coffer/client/internal/Credentials"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"

/** Makes the clients that tools call the server with. */
export type Call = CofferClient["call"]

/** Returns the client for a server, with the credential for that server, if there is one. */
export type Connect = (
  server: ServerUrl,
  withCredential: boolean,
  place?: EnvNames
) => Effect.Effect<Call, CredentialError>

/** The maximum of concurrent requests to the server; further requests wait. */
const atOnce = 32

/** A session that is renewed in place stays one credential, and so keeps its client. */
const byValue = (credential: Credential): Credential =>
  credential.type === "federated" ? credential : Data.struct(credential)

/** Whether a call was refused because the session of a service account had ended, and a new session exists. */
const maySignInAgain = (credential: Option.Option<Credential>) => (error: unknown) =>
  Predicate.isTagged(error, "Unauthorized") && Option.isSome(credential) && credential.value.type === "federated"
    ? Effect.isSuccess(credential.value.refresh)
    : Effect.succeed(false)

/** Caches the clients, so that each warning is written once. Their connections are closed with the scope. */
export const makeConnect = Effect.fnUntraced(function* (version: string) {
  const scope = yield* Effect.scope
  const gate = yield* Effect.makeSemaphore(atOnce)
  const clientFor = yield* Effect.cachedFunction(
    Effect.fnUntraced(function* (to: { readonly server: ServerUrl; readonly credential: Option.Option<Credential> }) {
      if (Option.exists(to.credential, ({ type }) => type === "session")) {
        yield* Effect.logWarning(
          "a person's session is used: the agent has all the rights of that person. Set SERVICE_API_KEY to a service account's key"
        )
      }
      // Loaded late: half of all modules, and not needed to list the tools.
      const { makeClient } = yield* Effect.promise(() => import("@coffer/client/internal/CofferClient"))
      const client = yield* Scope.extend(makeClient({ ...to, program: "mcp", version }), scope)
      const call: Call = (group, f) =>
        gate.withPermits(1)(Effect.retry(client.call(group, f), { times: 1, while: maySignInAgain(to.credential) }))
      return call
    })
  )

  const connect: Connect = Effect.fnUntraced(function* (server, withCredential, place) {
    const credential = withCredential ? Option.some(yield* credentialFor(server, place)) : Option.none()
    // The cache compares by value. A cancelled call must not leave an unfinished client in it.
    const to = Data.struct({ server: Data.struct(server), credential: Option.map(credential, byValue) })
    return yield* Effect.uninterruptible(clientFor(to))
  })
  return connect
})
