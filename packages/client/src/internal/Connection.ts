import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { noResponseWithin, serverUnreachable } from "./ConnectionProblem.js"
import type { Credential } from "./Credential.js"
import { type Exchange, type ExchangeOptions, makeExchange } from "./Exchange.js"
import { makeSend } from "./NodeRequest.js"
import type { ServerUrl } from "./ServerUrl.js"
import { Variables } from "./Variables.js"

export interface ConnectionOptions {
  readonly server: ServerUrl
  /** Absent for endpoints that need no credential. The caller has checked that this server may receive it. */
  readonly credential: Option.Option<Credential>
  /** Sent to the server, for its log. */
  readonly program: string
  readonly version: string
}

const authorization = ({ secret, type }: Credential): Readonly<Record<string, string>> =>
  type === "api_key" ? { "x-api-key": Redacted.value(secret) } : { authorization: `Bearer ${Redacted.value(secret)}` }

/** The reader of the headers that a program before the server wants. Loaded lazily: few servers are behind one. */
export const headersBefore = Effect.fnUntraced(function* (server: ServerUrl) {
  const isConfigured = Object.keys(yield* Variables).some((name) => name.startsWith("SERVICE_HEADER"))
  if (!isConfigured) return Effect.succeed({})
  const { headersFor } = yield* Effect.promise(() => import("./ClientHeaders.js"))
  return yield* headersFor(server)
})

/** An exchange with a server over connections that are closed with the scope. */
export const exchangeWith = Effect.fnUntraced(function* (
  server: ServerUrl,
  headers: ExchangeOptions["headers"],
  noteStatus: ExchangeOptions["noteStatus"] = () => undefined
): Effect.fn.Return<Exchange, never, Scope.Scope> {
  const url = server.base
  const before = yield* headersBefore(server)
  return makeExchange({
    url,
    send: yield* makeSend(server),
    headers: Effect.zipWith(before, headers, (before, own) => ({ ...before, ...own })),
    unreachable: (failed) => serverUnreachable(url, failed),
    noResponseWithin: (seconds) => noResponseWithin(url, seconds),
    noteStatus
  })
})

/** Connects to a server with a credential, which is renewed if it can be. */
export const connectTo = ({
  credential,
  program,
  server,
  version
}: ConnectionOptions): Effect.Effect<Exchange, never, Scope.Scope> => {
  const named = { "user-agent": `coffer/${version}`, "x-coffer-client": program }
  if (Option.isNone(credential)) return exchangeWith(server, Effect.succeed(named))
  const headers = Effect.sync(() => ({ ...named, ...authorization(credential.value) }))
  if (credential.value.type !== "federated") return exchangeWith(server, headers)
  const { expire, refresh } = credential.value
  return exchangeWith(server, Effect.zipRight(refresh, headers), (status) => {
    if (status === 401) expire()
  })
}
