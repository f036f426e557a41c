import { type Actor, currentActor, CurrentCaller, type Delegated, viaOf } from "@coffer/domain/access/Actor"
import { Api } from "@coffer/domain/Api"
import type { OwnDelegation } from "@coffer/domain/directory/Delegation"
import { Forbidden } from "@coffer/domain/errors/Errors"
import type { LoginMethods } from "@coffer/domain/directory/LoginMethods"
import { ProviderLogout } from "@coffer/domain/directory/ProviderLogout"
import type { Identity } from "@coffer/domain/directory/User"
import { Session } from "@coffer/domain/directory/Session"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../access/Access.js"
import { ServerConfig, type Settings } from "../base/Config.js"
import { inSteps } from "../database/InSteps.js"
import { environmentsOf } from "./delegations/DelegatedEnvironments.js"
import { Exchange } from "./federations/Exchange.js"
import { longList } from "../http/LongList.js"
import { NodeRequest } from "../http/NodeRequest.js"
import { sessionCookie } from "../http/Browser.js"
import { Identities } from "./identities/Identities.js"
import { Provider } from "./identities/Provider.js"
import { ClientLogins } from "./login/ClientLogins.js"
import { ClientTokens } from "./login/ClientTokens.js"
import { Login } from "./login/Login.js"
import { clearSessionCookie, cookieReach, setSessionCookie } from "./login/SessionCookie.js"
import { Sessions } from "./login/Sessions.js"

const own = ({ expiresAt, id, keys, name, org, permission, places, reveal }: Delegated): OwnDelegation => ({
  id,
  name,
  org: org.name,
  ...environmentsOf(places),
  permission,
  reveal,
  ...(keys !== null && { keys: [...keys] }),
  expires_at: expiresAt
})

const identityOf = (actor: Actor): Identity => {
  if (actor.type === "user") {
    const { delegation, email, id, name, superadmin, type } = actor
    return {
      id,
      type,
      email,
      name,
      is_superadmin: superadmin,
      ...(delegation !== null && { delegation: own(delegation) })
    }
  }
  const via = viaOf(actor)
  return {
    id: actor.id,
    type: actor.type,
    name: actor.name,
    org: actor.orgName,
    project: actor.project?.name ?? null,
    is_superadmin: false,
    ...(via !== null && { via })
  }
}

const methodsOf = ({ emailLogin, provider, publicUrl }: Settings): LoginMethods => ({
  email: emailLogin,
  provider: provider === null ? null : { name: provider.name, issuer: provider.issuer },
  public_url: publicUrl
})

const listed = longList(Session)
const sent = { message: "if this address may log in, a code of 6 digits is on its way; it is good for 10 minutes" }
const loggedOut = HttpServerResponse.schemaJson(ProviderLogout)
const nothing = HttpServerResponse.empty({ status: 204 })

const noPublicUrl = new Forbidden({
  message: "logins by browser need the server's setting SERVICE_PUBLIC_URL: log in with a code by e-mail"
})

export const AuthHttp = HttpApiBuilder.group(Api, "auth", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const clientLogins = yield* ClientLogins
    const clientTokens = yield* ClientTokens
    const config = yield* ServerConfig
    const login = yield* Login
    const sessions = yield* Sessions
    const exchange = yield* Exchange
    const identities = yield* Identities
    const { client: provider } = yield* Provider
    const logoutUrl = provider?.logoutUrl ?? Effect.succeed(null)
    const headers = Effect.map(NodeRequest.current, (request) => request.headers)
    return handlers
      .handle("methods", () => Effect.succeed(methodsOf(config)))
      .handle("login", ({ payload }) => Effect.as(login.request(payload.email), sent))
      .handle("verify", ({ payload: { code, email, machine, session } }) =>
        session === "cookie"
          ? Effect.gen(function* () {
              // First: a code is used up even if the cookie cannot be set.
              const reach = yield* cookieReach(config, yield* headers)
              return setSessionCookie(nothing, reach, yield* login.verify(email, code, "cookie", machine))
            })
          : Effect.map(login.verify(email, code, "token", machine), (token) => ({ token }))
      )
      .handle("device", ({ payload }) =>
        config.publicUrl === null ? noPublicUrl : clientLogins.begin(config.publicUrl, payload.machine ?? null)
      )
      .handle("token", ({ payload: { code, device_code, verifier } }) => {
        if (device_code !== undefined) return Effect.map(clientTokens.poll(device_code), (token) => ({ token }))
        return code === undefined || verifier === undefined
          ? Effect.dieMessage("the schema of the body requires a device code, or a code and a verifier")
          : Effect.map(clientTokens.exchange(code, verifier), (token) => ({ token }))
      })
      .handle("federate", ({ payload }) => exchange.federate(payload.token, payload.account))
      .handle("logout", () =>
        Effect.gen(function* () {
          const request = yield* headers
          const actor = yield* currentActor
          yield* access.change(currentActor, sessions.logout)
          if (sessionCookie(config, request) === null) return nothing
          const url = actor.type === "user" && (yield* identities.has(actor.id)) ? yield* logoutUrl : null
          const response = url === null ? nothing : yield* Effect.orDie(loggedOut({ provider_logout_url: url }))
          return clearSessionCookie(response, config, request)
        })
      )
      .handle("me", () => Effect.map(CurrentCaller, ({ actor }) => identityOf(actor)))
      .handle("sessions", () => Effect.flatMap(Effect.flatMap(currentActor, sessions.list), (data) => listed({ data })))
      .handle("endSession", ({ path }) => access.change(currentActor, (actor) => sessions.end(actor, path.session_id)))
      .handle("endSessions", ({ urlParams: { others } }) =>
        Effect.asVoid(inSteps(access.change(currentActor, (actor) => sessions.endAll(actor, others === true))))
      )
  })
).pipe(
  Layer.provide([
    ClientLogins.Default,
    ClientTokens.Default,
    Exchange.Default,
    Identities.Default,
    Login.Default,
    Provider.Default,
    Sessions.Default
  ])
)
