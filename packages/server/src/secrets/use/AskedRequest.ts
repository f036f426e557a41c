import { UseRefused } from "@coffer/domain/errors/Errors"
import { maxUseBody, type UseRequest } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { nextTick } from "../../base/EventLoop.js"
import { targetOf as urlOf } from "../../base/outbound/Outbound.js"
import { targetOf } from "../use-rules/Match.js"
import { outgoingHeaders } from "./OutgoingHeaders.js"
import type { PermittedSecret } from "./PermittedSecret.js"
import { type Outgoing, placed, signed } from "./Placement.js"

export const refused = (message: string) => new UseRefused({ message })

const largeText = 64 * 1024

const tooLarge = refused("a body has at most 10 MiB")

/** Decodes base64. The decoder passes over a character that is none of base64, so fewer bytes come out. */
const decoded = (text: string): Either.Either<Uint8Array, UseRefused> => {
  const bytes = Buffer.from(text, "base64")
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  return bytes.length === (text.length / 4) * 3 - padding && !/[-_]/.test(text)
    ? Either.right(bytes)
    : Either.left(refused("body_base64: must be base64 with padding"))
}

const bodyOf = ({ body, body_base64 }: UseRequest): Effect.Effect<Uint8Array | null, UseRefused> =>
  Effect.gen(function* () {
    if (body !== undefined && body_base64 !== undefined) return yield* refused("give body or body_base64, not both")
    const text = body ?? body_base64
    if (text === undefined) return null
    // Megabytes take a turn of their own.
    if (text.length > largeText) yield* nextTick
    const bytes = body_base64 === undefined ? Buffer.from(text) : yield* decoded(text)
    return bytes.length > maxUseBody ? yield* tooLarge : bytes
  })

/** Reads the request as far as the caller decides it. */
export const askedOf = (request: UseRequest) =>
  Effect.gen(function* () {
    const { method, url } = request
    const parsed = yield* Effect.mapError(urlOf(url), ({ message }) => refused(message))
    const headers = yield* Either.mapLeft(outgoingHeaders(request.headers ?? {}), refused)
    const body = yield* bodyOf(request)
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
