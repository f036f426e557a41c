import { ValidationError } from "@coffer/domain/errors/Errors"
import { UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import type * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { ServerConfig } from "../../base/Config.js"
import { cookieReach } from "../../directory/login/SessionCookie.js"
import { cookieName, cookieOf } from "../../http/Browser.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { Keyring } from "../../keys/Keyring.js"
import { sameMac } from "../../keys/LoginCode.js"
import { openText, sealText } from "../../keys/Sealed.js"
import { Intent } from "./Intents.js"

/** A login in a browser, from its first page to its last. */
const Flow = Schema.Struct({
  intent: Intent,
  /** Repeated by the forms of the flow: another site can read neither the cookie nor the form. */
  csrf: Schema.String,
  /** The address that a code was requested for. */
  email: Schema.NullOr(Schema.typeSchema(Email)),
  /** The person who has logged in, while a program's login waits for a yes or no. */
  person: Schema.NullOr(
    Schema.Struct({
      id: UserId,
      email: Schema.typeSchema(Email),
      ended: Schema.Number,
      provenAt: Schema.NullOr(Schema.String)
    })
  ),
  /** Values that the provider's answer must match. */
  provider: Schema.NullOr(Schema.Struct({ state: Schema.String, nonce: Schema.String, verifier: Schema.String })),
  /** Until when the login of `person` counts: pages that keep the flow do not make it last longer. */
  provenUntil: Schema.NullOr(Schema.Number),
  /** Milliseconds since 1970. */
  expires: Schema.Number
})
export type Flow = typeof Flow.Type

const lifetime = 10 * 60_000
const purpose = "login flow"
const flowCookie = "coffer-flow"

const decodeFlow = Schema.decodeOption(Schema.parseJson(Flow))
const encodeFlow = Schema.encodeSync(Schema.parseJson(Flow))

const flowGone = new ValidationError({
  message: "this login is older than 10 minutes, or the browser keeps no cookies: start again"
})

/** Compares two texts in constant time. */
export const sameText = (a: string, b: string): boolean => sameMac(Buffer.from(a), Buffer.from(b))

/**
 * Keeps each flow in a sealed cookie, so that the server stores nothing for strangers and every replica can go on with it.
 * `Lax`: the provider's redirect comes from another site and must bring it.
 */
export class LoginFlows extends Effect.Service<LoginFlows>()("@coffer/server/LoginFlows", {
  effect: Effect.gen(function* () {
    const config = yield* ServerConfig
    const { loginFlowKey } = yield* Keyring

    const reachOf = Effect.flatMap(NodeRequest.current, ({ headers }) => cookieReach(config, headers))

    const read = (headers: Headers.Headers, name: string, millis: number): Option.Option<Flow> =>
      Option.fromNullable(cookieOf(headers, name)).pipe(
        Option.flatMapNullable((sealed) => openText(loginFlowKey, purpose, sealed)),
        Option.flatMap(decodeFlow),
        Option.filter(({ expires }) => expires > millis)
      )

    const find = Effect.gen(function* () {
      const reach = yield* reachOf
      const { headers } = yield* NodeRequest.current
      return read(headers, cookieName(flowCookie, reach), yield* Clock.currentTimeMillis)
    })

    return {
      begin: (intent: Intent): Flow => ({
        intent,
        csrf: randomBytes(16).toString("base64url"),
        email: null,
        person: null,
        provider: null,
        provenUntil: null,
        expires: 0
      }),

      /** The flow of the request, if there is one. */
      find,

      /** The flow of the request. Fails with ValidationError without one. */
      get: Effect.flatMap(
        find,
        Option.match({ onNone: () => Effect.fail(flowGone), onSome: (flow: Flow) => Effect.succeed(flow) })
      ),

      /** For a flow that has not come this far. */
      gone: flowGone,

      /** Fails with ValidationError unless a form was made for the flow, and another site did not send it. */
      checkForm: (flow: Flow, csrf: string | undefined) =>
        Effect.flatMap(NodeRequest.current, ({ headers }) => {
          const site = headers["sec-fetch-site"]
          const isOwn = site === undefined || site === "same-origin"
          return isOwn && csrf !== undefined && sameText(csrf, flow.csrf) ? Effect.void : flowGone
        }),

      /** Adds the flow's cookie to a response. The flow lasts 10 more minutes, but at most 10 from the login on. */
      keep: (response: HttpServerResponse.HttpServerResponse, flow: Flow) =>
        Effect.gen(function* () {
          const reach = yield* reachOf
          const later = (yield* Clock.currentTimeMillis) + lifetime
          const provenUntil = flow.person === null ? null : (flow.provenUntil ?? later)
          const kept: Flow = { ...flow, provenUntil, expires: provenUntil ?? later }
          const sealed = sealText(loginFlowKey, purpose, encodeFlow(kept))
          return HttpServerResponse.unsafeSetCookie(response, cookieName(flowCookie, reach), sealed, {
            httpOnly: true,
            sameSite: "lax",
            path: "/",
            secure: reach === "https",
            maxAge: Duration.millis(lifetime)
          })
        }),

      /** Deletes the flow's cookie. */
      end: (response: HttpServerResponse.HttpServerResponse) =>
        Effect.map(reachOf, (reach) =>
          HttpServerResponse.unsafeSetCookie(response, cookieName(flowCookie, reach), "", {
            httpOnly: true,
            sameSite: "lax",
            path: "/",
            secure: reach === "https",
            maxAge: Duration.zero
          })
        )
    } as const
  })
}) {}
