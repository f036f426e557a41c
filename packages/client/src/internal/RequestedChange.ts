import { type ChangeRequested, ChangeRequestedResponse } from "@coffer/domain/requests/ApprovalRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { UnexpectedResponse } from "./ClientErrors.js"
import type { Exchange } from "./Exchange.js"
import { decodeWith } from "./SecretCalls.js"
import type { HttpResponse } from "./Send.js"

const decode = Schema.decodeUnknownOption(ChangeRequestedResponse)

/** Fails with the request that a response of 202 holds: the change waits for votes. */
export const failWithRequest = (
  exchange: Exchange,
  response: HttpResponse
): Effect.Effect<never, ChangeRequested | UnexpectedResponse> =>
  Effect.flatMap(decodeWith(exchange, decode)(response), Effect.fail)
