import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import { isHttpClientError } from "@effect/platform/HttpClientError"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import { brokenRules } from "@coffer/domain/errors/BrokenRules"
import { isApiError } from "@coffer/domain/errors/Errors"
import { type ClientOptions, groupClients } from "./ApiClient.js"
import { retryAfterOf, unknownApiError } from "./ApiFailure.js"
import type { Call, CallOf, GroupClient, GroupName, ToolkitError } from "./Call.js"
import { classifyResponse } from "./ClassifyResponse.js"
import { type ClientError, InvalidRequest } from "./ClientErrors.js"
import type { Exchange } from "./Exchange.js"
import { lastResponse, toolkitClient } from "./ToolkitClient.js"

const isToolkitError = <E>(error: E): error is Extract<E, ToolkitError> =>
  isHttpClientError(error) || ParseResult.isParseError(error) || error instanceof HttpApiDecodeError

/** Without a response, the request did not encode. Messages other than ours may contain the value. */
const notSent = (error: ToolkitError): Effect.Effect<never, InvalidRequest> => {
  if (!ParseResult.isParseError(error)) return Effect.dieMessage("a request failed before it was sent")
  const [rule] = brokenRules(error)
  const field = rule?.path.join(".") || "the request"
  return new InvalidRequest({ field, reason: rule?.sentence ?? "does not fit the contract" })
}

/**
 * Returns the typed call of some groups. Errors that the contract declares stay typed; every other failure is a `ClientError`.
 */
export const callsOf = <Names extends GroupName>(
  clients: (options: ClientOptions) => { readonly [Name in Names]: Effect.Effect<GroupClient<Name>> },
  exchange: Exchange
): CallOf<Names> => {
  const groups = clients({ httpClient: toolkitClient(exchange), baseUrl: exchange.url })
  const last = Effect.map(
    FiberRef.get(lastResponse),
    Option.map((response) => classifyResponse(exchange.url, response))
  )
  const undeclared = (error: ToolkitError): Effect.Effect<never, ClientError> =>
    Effect.flatMap(last, (found): Effect.Effect<never, ClientError> => {
      if (Option.isNone(found)) return notSent(error)
      const { value: classified } = found
      return Effect.fail(classified._tag === "Refused" ? unknownApiError(classified) : classified)
    })
  /** The toolkit decodes bodies alone, and the envelope has no field for the header. */
  const addRetryAfter = (error: unknown) =>
    isApiError(error)
      ? Effect.map(last, (found) =>
          Option.map(found, (each) => (each._tag === "Refused" ? Object.assign(error, retryAfterOf(each)) : error))
        )
      : Effect.void
  return (group, f) =>
    Effect.flatMap(groups[group], f).pipe(
      Effect.catchIf(isToolkitError, (error) => undeclared(error)),
      Effect.tapError(addRetryAfter),
      Effect.locally(lastResponse, Option.none())
    )
}

/** Returns the typed call of all groups. */
export const typedCalls = (exchange: Exchange): Call => callsOf(groupClients, exchange)
