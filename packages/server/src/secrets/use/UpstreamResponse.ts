import type { UseResponse } from "@coffer/domain/secrets/UseRequest"
import { maxKibOfWhole, type UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Struct from "effect/Struct"
import type { OutboundResponse } from "../../base/outbound/Outbound.js"
import { decompressed } from "./Decompress.js"
import { longestSpelling } from "@coffer/domain/secrets/Spellings"
import { makeScrub, type Scrub } from "./Scrub.js"

/** Headers of responses that callers get, if they have no value in them. */
const shownHeaders: ReadonlySet<string> = new Set([
  "cache-control",
  "content-language",
  "content-type",
  "date",
  "etag",
  "idempotent-replayed",
  "last-modified",
  "link",
  "location",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "request-id",
  "retry-after",
  "stripe-version",
  "x-github-request-id",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
  "x-total-count"
])
const maxHeaderCharacters = 8_000

/** Why a response is withheld. */
export type Withheld = "encoding" | "value" | "json"

export const withheldSentences: Readonly<Record<Withheld, string>> = {
  encoding: "its response is withheld: its compression cannot be undone, so the values in it cannot be scrubbed",
  value: "its response is withheld: it holds the value in a form that cannot be scrubbed",
  json: "its response is withheld: it is not JSON, or longer than the rule allows (response: json)"
}

export const withheldKinds = Struct.keys(withheldSentences)

/** The headers that callers get, without values. */
export const cleanHeaders = (
  upstream: Pick<OutboundResponse, "headers">,
  scrub: Scrub
): Effect.Effect<{ readonly headers: Record<string, string>; readonly count: number }, Withheld> =>
  Effect.gen(function* () {
    const lines = Object.entries(upstream.headers)
      .map(([name, text]) => [name.toLowerCase(), single(text)] as const)
      .filter(([name, text]) => shownHeaders.has(name) && text.length <= maxHeaderCharacters)
    const headers: Record<string, string> = {}
    let count = 0
    for (const [name, text] of lines) {
      const clean = yield* scrub(text)
      if (clean === null) return yield* Effect.fail("value" as const)
      headers[name] = clean.text
      count += clean.count
    }
    return { headers, count }
  })

export const single = (header: string | ReadonlyArray<string> | undefined): string =>
  Predicate.isString(header) ? header : (header ?? []).join(", ")

/** How many bytes of a response are read: beyond the limit, so that a value at the limit is found. */
export const bytesToRead = (maxKib: number, values: ReadonlyArray<string>): number =>
  maxKib * 1024 + Math.max(0, ...values.map(longestSpelling))

/** How much of a stream the rules of a request let through, in bytes. */
export const streamBytes = (terms: ReadonlyArray<UseTerms>): number =>
  Math.min(...terms.map(({ max_kib }) => max_kib)) * 1024

/** The strictest terms of the rules that a request uses, whose response comes whole. */
export const strictest = (terms: ReadonlyArray<UseTerms>): Pick<UseTerms, "response" | "max_kib"> => ({
  response: (["status", "json"] as const).find((kind) => terms.some(({ response }) => response === kind)) ?? "text",
  max_kib: Math.min(maxKibOfWhole, ...terms.map(({ max_kib }) => max_kib))
})

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const asBody = (bytes: Buffer): Pick<UseResponse, "body" | "body_base64"> =>
  Either.match(
    Either.try(() => decoder.decode(bytes)),
    { onLeft: () => ({ body_base64: bytes.toString("base64") }), onRight: (body) => ({ body }) }
  )

/** The length of bytes without a character of UTF-8 that was cut at their end. */
const wholeLength = (bytes: Buffer): number => {
  let start = bytes.length - 1
  while (start > bytes.length - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  const first = bytes[start] ?? 0
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return size > bytes.length - start ? start : bytes.length
}

/**
 * Makes the response for the caller: decompressed, without the values, and cut. Fails if it has to be withheld.
 */
export const responseOf = (
  upstream: OutboundResponse,
  values: ReadonlyArray<string>,
  terms: Pick<UseTerms, "response" | "max_kib">
): Effect.Effect<UseResponse, Withheld> =>
  Effect.gen(function* () {
    const { status } = upstream
    if (terms.response === "status") return { status, headers: {}, truncated: false, scrubbed: 0 }

    const limit = terms.max_kib * 1024
    const whole = yield* decompressed(
      upstream,
      single(upstream.headers["content-encoding"]),
      bytesToRead(terms.max_kib, values)
    )
    const scrub = yield* makeScrub(values)
    const scrubbed = yield* scrub(Buffer.from(whole.body).toString("latin1"))
    const shown = yield* cleanHeaders(upstream, scrub)
    const { headers } = shown
    const count = (scrubbed?.count ?? 0) + shown.count
    if (scrubbed === null) return yield* Effect.fail("value" as const)

    // The tag of the body as it came lets the caller test guesses of what was replaced.
    if (count > 0) delete headers["etag"]

    // Cut the excess: text after the limit may hold part of a value, as may the end of a body that came cut.
    const reserve = whole.truncated ? bytesToRead(0, values) : 0
    const excess = Math.min(whole.body.length, Math.max(reserve, whole.body.length - limit))
    const truncated = whole.truncated || excess > 0
    const kept = Buffer.from(scrubbed.text.slice(0, Math.min(limit, scrubbed.text.length - excess)), "latin1")
    const body = truncated ? kept.subarray(0, wholeLength(kept)) : kept
    if (terms.response === "json") {
      const isJson = Either.isRight(Either.try((): unknown => JSON.parse(decoder.decode(body))))
      if (truncated || (body.length > 0 && !isJson)) return yield* Effect.fail("json" as const)
    }
    return { status, headers, ...(body.length > 0 && asBody(body)), truncated, scrubbed: count }
  })
