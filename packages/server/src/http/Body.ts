import {
  type AnyApiError,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType,
  ValidationError
} from "@coffer/domain/errors/Errors"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type { Reserve } from "./MemoryBudget.js"
import { parseBody } from "./ParseJson.js"

/** How long the rest of a body is discarded before the connection is closed. */
const lingerMillis = 2_000

const tooLarge = (limit: number) =>
  new PayloadTooLarge({ message: `the request body exceeds the limit of ${limit} bytes` })

type Accepts = (contentType: string | undefined) => boolean

const isJson: Accepts = (contentType = "") =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?)?$/i.test(contentType)

export const isAnything: Accepts = () => true

const refuse = (why: string) => new ValidationError({ message: `the body: ${why}` })

const overloaded = new Overloaded({
  message: "the server holds as many request bodies as it may: try again in 1 second",
  retryAfter: 1
})

type BodyFailure = "gone" | "late"

const failures = new WeakMap<IncomingMessage, BodyFailure>()
const readers = new WeakMap<IncomingMessage, (failure: BodyFailure) => void>()

/** Tells the reader of a body, now or when there is one, that the rest will not arrive. */
export const bodyFails = (source: IncomingMessage, failure: BodyFailure): void => {
  failures.set(source, failure)
  readers.get(source)?.(failure)
}

/** A request that did not arrive in time. The response is the error envelope with status 408. */
export class TooSlow extends Data.TaggedError("TooSlow") {}

const contentLength = ({ headers }: IncomingMessage): number | undefined =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

export const hasBody = (source: IncomingMessage): boolean =>
  source.headers["transfer-encoding"] !== undefined || (contentLength(source) ?? 0) > 0

/**
 * Reads a body, whose length is within the limit if it has one, into one buffer. Chunks are copied as they arrive: to keep the chunks of a body that arrives byte by byte would
 * take a hundred times its size.
 */
const collect = (
  source: IncomingMessage,
  limit: number,
  reserve: Reserve
): Effect.Effect<Buffer, AnyApiError | TooSlow> =>
  Effect.async((resume) => {
    const largest = contentLength(source) ?? limit
    let bytes: Buffer = Buffer.alloc(0)
    let size = 0
    const ensureCapacity = (needed: number): boolean => {
      if (needed <= bytes.length) return true
      const capacity = Math.min(Math.max(needed, 2 * bytes.length), largest)
      if (!reserve(capacity - bytes.length)) return false
      const larger = Buffer.allocUnsafeSlow(capacity)
      bytes.copy(larger, 0, 0, size)
      bytes = larger
      return true
    }
    const onData = (chunk: Buffer) => {
      const needed = size + chunk.length
      if (needed > limit) return end(tooLarge(limit))
      if (!ensureCapacity(needed)) return end(overloaded)
      chunk.copy(bytes, size)
      size = needed
    }
    const onEnd = () => end(Effect.succeed(bytes.subarray(0, size)))
    const onGone = () => end(refuse("ended before it was whole"))
    const onFailure = (failure: BodyFailure) => (failure === "late" ? end(new TooSlow()) : onGone())
    const stop = () => {
      readers.delete(source)
      source.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
    }
    const end = (result: Parameters<typeof resume>[0]) => {
      stop()
      resume(result)
    }
    const failure = failures.get(source)
    if (failure !== undefined) {
      onFailure(failure)
      return
    }
    readers.set(source, onFailure)
    source.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(stop)
  })

/**
 * Discards the rest of a body for a moment, so that a client that is still sending can read the response. Then closes the
 * connection if the body has not ended.
 */
export const linger = (source: IncomingMessage): void => {
  source.on("error", () => undefined)
  source.resume()
  setTimeout(() => {
    if (!source.complete) source.socket.destroy()
  }, lingerMillis).unref()
}

const notJson = new UnsupportedMediaType({ message: "send the body as Content-Type: application/json, in UTF-8" })

/** Reads a body of an accepted content type into one buffer. An absent body is empty. */
export const readBytes = (
  source: IncomingMessage,
  limit: number,
  reserve: Reserve,
  accepts: Accepts,
  unacceptable: UnsupportedMediaType
): Effect.Effect<Buffer, AnyApiError | TooSlow> =>
  Effect.suspend(() => {
    const { "content-encoding": encoding, "content-type": contentType } = source.headers
    if (!hasBody(source)) return Effect.succeed(Buffer.alloc(0))
    if ((contentLength(source) ?? 0) > limit) return tooLarge(limit)
    if (!accepts(contentType) || (encoding !== undefined && encoding !== "identity")) {
      return unacceptable
    }
    return collect(source, limit, reserve)
  })

/**
 * Reads the JSON body of a request. An empty body becomes an empty object, so that decoding names the missing fields. Fails
 * with 413 if it is over the limit, 415 if it is not JSON, 503 if the memory budget is used up, 408 if it is late, and 400 if
 * it is not valid UTF-8 and JSON.
 */
export const readBody = (
  source: IncomingMessage,
  limit: number,
  reserve: Reserve,
  accepts = isJson
): Effect.Effect<unknown, AnyApiError | TooSlow> =>
  Effect.suspend(() =>
    hasBody(source)
      ? Effect.flatMap(readBytes(source, limit, reserve, accepts, notJson), parseBody)
      : Effect.succeed({})
  )
