import { UseRefused } from "@coffer/domain/errors/Errors"
import type { UseRequest } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { targetOf as urlOf } from "../../base/outbound/Outbound.js"
import { targetOf } from "../use-rules/Match.js"
import { outgoingHeaders } from "./OutgoingHeaders.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { type Outgoing, placed, signed } from "./Placement.js"

export const refused = (message: string) => new UseRefused({ message })

const bodyOf = ({ body, body_base64 }: UseRequest): Either.Either<Uint8Array | null, string> => {
  if (body !== undefined && body_base64 !== undefined) return Either.left("give body or body_base64, not both")
  if (body_base64 !== undefined) return Either.right(Buffer.from(body_base64, "base64"))
  return Either.right(body === undefined ? null : Buffer.from(body))
}

/** Reads the request as far as the caller decides it. */
export const askedOf = (request: UseRequest) =>
  Effect.gen(function* () {
    const { method, url } = request
    const parsed = yield* Effect.mapError(urlOf(url), ({ message }) => refused(message))
    const headers = yield* Either.mapLeft(outgoingHeaders(request.headers ?? {}), refused)
    const body = yield* Either.mapLeft(bodyOf(request), refused)
    if (body !== null && (method === "GET" || method === "HEAD")) return yield* refused(`${method} has no body`)
    if (request.store !== undefined && request.stream === true) {
      return yield* refused("give store or stream, not both: a field is stored of a response that has come whole")
    }
    const target = yield* Either.mapLeft(targetOf(url, parsed, method), refused)
    return { method, url, headers, body, target, store: request.store }
  })

/** Puts all values where their rules say; a signature comes last. */
export const outgoingOf = (
  asked: Outgoing,
  granted: ReadonlyArray<PermittedSecret>
): Effect.Effect<Outgoing, UseRefused> =>
  Effect.gen(function* () {
    let outgoing = asked
    for (const { key, terms, value } of granted) {
      if (terms.place.in === "aws-sigv4") continue
      outgoing = yield* Either.mapLeft(placed(outgoing, terms.place, Redacted.value(value)), (wrong) =>
        refused(`${key}: ${wrong}`)
      )
    }
    for (const { key, terms, value } of granted) {
      if (terms.place.in !== "aws-sigv4") continue
      outgoing = yield* Effect.mapError(signed(outgoing, terms.place, Redacted.value(value)), (wrong) =>
        refused(`${key}: ${wrong}`)
      )
    }
    return outgoing
  })
