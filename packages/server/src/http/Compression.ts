import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { gzip } from "node:zlib"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { preferredCoding, refusesPlain } from "./AcceptEncoding.js"
import { smallResponse } from "./LargeResponses.js"
import type { NodeRequest } from "./NodeRequest.js"

/** A smaller body fits into one packet with its headers. */
const smallest = 1_400

/** Saves nearly as much as the best level, in a fraction of its time. */
const level = 4

/** Compresses in a thread of Node's, not on the event loop. */
const gzipped = (bytes: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.async((resume) => {
    gzip(bytes, { level }, (error, result) => {
      resume(error === null ? Effect.succeed(result) : Effect.die(error))
    })
  })

/** The tag of content that is sent in several codings is weak (RFC 9110, section 8.8.3.3): its bytes differ. */
const weak = (etag: string): string => (etag.startsWith("W/") ? etag : `W/${etag}`)

/** Headers of a response that depends on `Accept-Encoding`. */
const negotiated = (headers: Headers.Headers, isCoded: boolean): Headers.Headers => {
  const { etag, vary } = headers
  return Headers.setAll(headers, {
    vary: vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`,
    ...(etag !== undefined && isCoded && { etag: weak(etag) })
  })
}

/**
 * Makes what compresses the responses of endpoints with `Compressible`. The memory of a response is that of its plain form until
 * it is compressed. Streams and failures are sent as they are.
 */
export const makeCompression = () => {
  const threads = makeFairSemaphore(sharedBounds.compressions)

  return (
    { headers: requested, memory }: NodeRequest,
    response: HttpServerResponse.HttpServerResponse
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const { body, cookies, status } = response
    if ((status !== 200 && status !== 304) || body._tag === "Stream") return Effect.succeed(response)
    const accepted = requested["accept-encoding"]
    const isCoded = preferredCoding(accepted, ["gzip"]) !== null
    const headers = negotiated(response.headers, isCoded)
    const least = refusesPlain(accepted) ? 1 : smallest
    if (!isCoded || body._tag !== "Uint8Array" || body.body.length < least) {
      return Effect.succeed(HttpServerResponse.setHeaders(response, headers))
    }
    return Effect.map(threads.inside(gzipped(body.body)), (bytes) => {
      // Less than before, so there is room.
      memory.hold(bytes.length > smallResponse ? bytes.length : 0)
      return HttpServerResponse.uint8Array(bytes, {
        status,
        headers: Headers.set(headers, "content-encoding", "gzip"),
        cookies,
        contentType: body.contentType
      })
    })
  }
}
