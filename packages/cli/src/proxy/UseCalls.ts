import { type Exchange, type ExchangeFailure, patiently } from "@coffer/client/internal/Exchange"
import { parseJson } from "@coffer/client/internal/ParseJson"
import { type EnvNames, envUrl } from "@coffer/client/internal/SecretCalls"
import { textOf } from "@coffer/client/internal/Send"
import { UseResponse } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Wanted } from "./Outgoing.js"
import { type Passed, refusal } from "./Passed.js"
import { passStream, type Streamed } from "./PassStream.js"

const refusedByProxy = (failure: ExchangeFailure): Passed => {
  if (failure._tag !== "Refused") return refusal(502, "PROXY_FAILED", failure.message)
  const { code, message, response } = failure
  const retry = response.headers["retry-after"]
  const { body, headers, status } = refusal(response.status, code, message)
  return { status, headers: typeof retry === "string" ? { ...headers, "retry-after": retry } : headers, body }
}

/** Of the other side's headers, those that say how its body was sent do not hold for the one that is passed on. */
const passedOf = ({ body, body_base64, headers, status, truncated }: UseResponse): Passed => {
  if (truncated) {
    return refusal(
      502,
      "USE_TRUNCATED",
      "the response is longer than the use rule allows: ask for a rule with a larger --max-kib"
    )
  }
  return {
    status,
    headers,
    body: body_base64 === undefined ? Buffer.from(body ?? "") : Buffer.from(body_base64, "base64")
  }
}

const decode = Schema.decodeUnknownOption(UseResponse)

const payloadOf = ({ body, headers, isStream, method, secrets, url }: Wanted): Buffer =>
  Buffer.from(
    JSON.stringify({
      method,
      url,
      headers,
      secrets,
      ...(isStream && { stream: true }),
      ...(body.length > 0 && { body_base64: body.toString("base64") })
    })
  )

/** Has the server make the request: rules, approvals, budgets and the audit entry are decided there. Undefined: it was streamed. */
export const makeUse = (
  exchange: Exchange,
  path: EnvNames,
  wanted: Wanted,
  response: ServerResponse
): Effect.Effect<Passed | undefined> =>
  Effect.suspend(() => {
    let streamed: Streamed | undefined
    const take = (source: IncomingMessage): boolean => {
      if (source.statusCode !== 200 || !source.headers["content-type"]?.startsWith("application/x-ndjson")) return false
      streamed = passStream(source, response)
      return true
    }
    const sent = exchange.once({
      url: envUrl(exchange, path, "use"),
      method: "POST",
      headers: { "content-type": "application/json" },
      body: payloadOf(wanted),
      take
    })
    return (wanted.isStream ? patiently(sent) : sent).pipe(
      Effect.map((whole) =>
        streamed === undefined
          ? Option.match(Option.flatMap(parseJson(textOf(whole)), decode), {
              onNone: () => refusal(502, "PROXY_FAILED", "the response of the Coffer server cannot be read"),
              onSome: passedOf
            })
          : streamed.refusal()
      ),
      Effect.catchAll((failure) => {
        // A program must not take a part for the whole.
        if (response.headersSent) response.destroy()
        return Effect.succeed(refusedByProxy(failure))
      })
    )
  })
