import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import { type HttpClientError, isHttpClientError } from "@effect/platform/HttpClientError"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import { brokenRules } from "../BrokenRules.js"
import type { GroupClient, GroupClients, GroupName } from "./ApiClient.js"
import { type ClientError, InvalidRequest } from "./ClientErrors.js"
import { lastResponse } from "./Exchange.js"

/** Errors of the HTTP toolkit. `call` replaces them by a `ClientError`. */
export type ToolkitError = HttpClientError | ParseResult.ParseError | HttpApiDecodeError

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
 * Returns the typed call: `call("secrets", (api) => api.get({ path, urlParams: {} }))`. Errors that the contract declares
 * stay typed; every other failure is a `ClientError`. The clients' transport must be `exchange`.
 */
export const typedCalls =
  (groups: GroupClients) =>
  <Name extends GroupName, A, E, R>(
    group: Name,
    f: (api: GroupClient<Name>) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, Exclude<E, Extract<E, ToolkitError>> | ClientError, R> =>
    Effect.flatMap(groups[group], f).pipe(
      Effect.catchIf(isToolkitError, (error) =>
        Effect.flatMap(FiberRef.get(lastResponse), (last): Effect.Effect<never, ClientError> =>
          Option.isSome(last) ? Effect.fail(last.value) : notSent(error)
        )
      ),
      Effect.locally(lastResponse, Option.none())
    )
