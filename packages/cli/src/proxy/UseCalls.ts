import type { Exchange, ExchangeFailure } from "@coffer/client/internal/Exchange"
import { parseJson } from "@coffer/client/internal/ParseJson"
import { type EnvNames, envUrl } from "@coffer/client/internal/SecretCalls"
import { textOf } from "@coffer/client/internal/Send"
import { UseResponse } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Wanted } from "./Outgoing.js"

/** The response for the program. */
export interface Passed {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A refusal, in the form of all errors of the service. `x-coffer-error` tells it from an error of the other side. */
export const refusal = (status: number, code: string, message: string): Passed => ({
  status,
  headers: { "content-type": "application/json", "x-coffer-error": code },
  body: Buffer.from(JSON.stringify({ error: { code, message } }))
})

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

const payloadOf = ({ body, headers, method, secrets, url }: Wanted): Buffer =>
  Buffer.from(
    JSON.stringify({ method, url, headers, secrets, ...(body.length > 0 && { body_base64: body.toString("base64") }) })
  )

/** Has the server make the request: rules, approvals, budgets and the audit entry are decided there. */
export const makeUse = (exchange: Exchange, path: EnvNames, wanted: Wanted): Effect.Effect<Passed> =>
  exchange
    .send({
      url: envUrl(exchange, path, "use"),
      method: "POST",
      headers: { "content-type": "application/json" },
      body: payloadOf(wanted)
    })
    .pipe(
      Effect.map((response) =>
        Option.match(Option.flatMap(parseJson(textOf(response)), decode), {
          onNone: () => refusal(502, "PROXY_FAILED", "the response of the Coffer server cannot be read"),
          onSome: passedOf
        })
      ),
      Effect.catchAll((failure) => Effect.succeed(refusedByProxy(failure)))
    )
