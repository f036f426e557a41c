import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { audienceOf } from "@coffer/domain/directory/Claims"
import { accountNameForm, orgNameForm } from "@coffer/domain/base/NameForms"
import type { Refused } from "./ClassifyResponse.js"
import { type SignInError, SignInFailed, unexpectedResponse } from "./ClientErrors.js"
import { exchangeWith } from "./Connection.js"
import type { ExchangeFailure } from "./Exchange.js"
import type { FederatedSession } from "./FederatedSession.js"
import { type AccountSource, identityToken } from "./IdentityToken.js"
import { parseJson } from "./ParseJson.js"
import { headerOf, textOf } from "./Send.js"
import type { ServerUrl } from "./ServerUrl.js"
import { BadSetting } from "./Variables.js"

/** The sessions of the process, by server and account. */
class Sessions extends Context.Reference<Sessions>()("@coffer/client/Sessions", {
  defaultValue: () => new Map<string, FederatedSession>()
}) {}

/** A session ends earlier for the client than for the server by this much, so that no request meets its end. */
const margin = 60_000

interface Issued {
  readonly secret: Redacted.Redacted
  /** How long the session lasts, in milliseconds. */
  readonly lifetime: number
}

/** @param now the time by the server's clock, in milliseconds. */
const decode = (body: string, now: number): Option.Option<Issued> =>
  Option.flatMap(parseJson(body), (found) => {
    if (!Predicate.hasProperty(found, "token") || !Predicate.hasProperty(found, "expires_at")) return Option.none()
    const { expires_at, token } = found
    if (typeof token !== "string" || !/^svc_ft_[\x21-\x7e]+$/.test(token)) return Option.none()
    const end = typeof expires_at === "string" ? Date.parse(expires_at) : NaN
    return Number.isNaN(end) ? Option.none() : Option.some({ secret: Redacted.make(token), lifetime: end - now })
  })

const exchangeToken = Effect.fnUntraced(function* (
  server: ServerUrl,
  account: string,
  token: Redacted.Redacted
): Effect.fn.Return<Issued, ExchangeFailure, Scope.Scope> {
  const { send, url } = yield* exchangeWith(server, Effect.succeed({}))
  const response = yield* send({
    url: new URL(`${url}/api/auth/federate`),
    method: "POST",
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ token: Redacted.value(token), account })),
    isRepeatable: true
  })
  // By the server's clock: that of the client may be wrong.
  const date = Date.parse(headerOf(response, "date") ?? "")
  const now = Number.isNaN(date) ? yield* Clock.currentTimeMillis : date
  return yield* Option.match(decode(textOf(response), now), {
    onNone: () => Effect.fail(unexpectedResponse(url, response)),
    onSome: Effect.succeed
  })
}, Effect.scoped)

const nextAfter = (status: number, org: string, name: string): string => {
  if (status === 401) return `compare it with: coffer service-account trust list '${name}' --org ${org}`
  if (status === 404 || status === 405) return "update the server: it does not know this way to sign in"
  return "wait, then try again"
}

const refused = (org: string, name: string, { message, response }: Refused) =>
  new SignInFailed({
    reason: `the server does not let ${org}/${name} sign in`,
    detail: message,
    next: nextAfter(response.status, org, name)
  })

/** Exchanges a token of the CI system or cluster for a session. Retries at most twice after transient errors. */
const exchange = Effect.fnUntraced(function* (server: ServerUrl, org: string, name: string, source: AccountSource) {
  const account = `${org}/${name}`
  const token = yield* identityToken(account, audienceOf(server.base, org, name), source)
  return yield* Effect.catchTag(exchangeToken(server, account, token), "Refused", (error) => refused(org, name, error))
})

const makeSession = (server: ServerUrl, org: string, name: string, source: AccountSource): FederatedSession => {
  const mutex = Effect.unsafeMakeSemaphore(1)
  let secret = Redacted.make("")
  let renewAt = -Infinity
  let endsAt = -Infinity
  const renew = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now < renewAt) return
    const issued = yield* Effect.either(exchange(server, org, name, source))
    if (issued._tag === "Right") {
      const { lifetime } = issued.right
      secret = issued.right.secret
      renewAt = now + lifetime - Math.min(margin, lifetime / 4)
      endsAt = now + lifetime
    } else if (now >= endsAt) return yield* Effect.fail(issued.left)
  })
  return {
    type: "federated",
    get secret() {
      return secret
    },
    refresh: mutex.withPermits(1)(renew),
    expire: () => {
      renewAt = -Infinity
      endsAt = -Infinity
    }
  }
}

/** Signs the account `ORGANIZATION/ACCOUNT` in: once for each server and account, unless a token is given. */
export const signIn = Effect.fnUntraced(function* (
  server: ServerUrl,
  account: string,
  source: AccountSource = { setting: "SERVICE_ACCOUNT" }
): Effect.fn.Return<FederatedSession, SignInError> {
  const { setting, token } = source
  const [org = "", name = "", ...rest] = account.split("/")
  if (!orgNameForm.is(org) || !accountNameForm.is(name) || rest.length > 0) {
    return yield* new BadSetting({ message: `${setting} must be ORGANIZATION/ACCOUNT, such as acme/deploy` })
  }
  const sessions = yield* Sessions
  const id = `${setting} ${server.base} ${account}`
  const shared = token === undefined ? sessions.get(id) : undefined
  const session = shared ?? makeSession(server, org, name, source)
  if (token === undefined) sessions.set(id, session)
  yield* session.refresh
  return session
})
