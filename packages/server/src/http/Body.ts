import {
  type AnyApiError,
  Overloaded,
  PayloadTooLarge,
  UnsupportedMediaType,
  ValidationError
} from "@coffer/domain/Errors"
import { Data, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import type { Hold } from "./Held.js"
import { parseBody } from "./ParseJson.js"

/** How long a client that sends too much is listened to before its connection is closed. */
const lingerMillis = 2_000

const tooLarge = (limit: number) =>
  new PayloadTooLarge({ message: `the body is larger than the ${limit} bytes that this call takes` })

const isJson = (contentType: string): boolean =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType.trim())

const refuse = (why: string) => new ValidationError({ message: `the body: ${why}` })

const overloaded = new Overloaded({
  message: "the server holds as many request bodies as it may: try again in 1 second",
  retryAfter: 1
})

/** A request that did not arrive whole in the time that it has. Its answer is the envelope, with status 408. */
export class TooSlow extends Data.TaggedError("TooSlow") {}

/** The length that a request announces, if it does. */
const announcedLength = ({ headers }: IncomingMessage): number | undefined =>
  headers["content-length"] === undefined ? undefined : Number(headers["content-length"])

/** Whether a request has a body, read or not. */
export const hasBody = (source: IncomingMessage): boolean =>
  source.headers["transfer-encoding"] !== undefined || (announcedLength(source) ?? 0) > 0

/**
 * The bytes of a body, in one piece. They are copied together as they arrive: a body that trickles in by single bytes would
 * else cost a hundred times its size.
 */
const collect = (source: IncomingMessage, limit: number, hold: Hold): Effect.Effect<Buffer, AnyApiError | TooSlow> =>
  Effect.async((resume) => {
    const largest = Math.min(limit, announcedLength(source) ?? limit)
    let bytes: Buffer = Buffer.alloc(0)
    let size = 0
    const room = (needed: number): boolean => {
      if (needed <= bytes.length) return true
      const capacity = Math.min(Math.max(needed, 2 * bytes.length), largest)
      if (!hold.take(capacity - bytes.length)) return false
      const larger = Buffer.allocUnsafeSlow(capacity)
      bytes.copy(larger, 0, 0, size)
      bytes = larger
      return true
    }
    const onData = (chunk: Buffer) => {
      const needed = size + chunk.length
      if (needed > limit) return end(tooLarge(limit))
      if (!room(needed)) return end(overloaded)
      chunk.copy(bytes, size)
      size = needed
    }
    const onEnd = () => end(Effect.succeed(bytes.subarray(0, size)))
    const onGone = () => end(refuse("ended before it was whole"))
    const onTimeout = () => end(new TooSlow())
    const stop = () => {
      source.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone).off("timeout", onTimeout)
    }
    const end = (result: Parameters<typeof resume>[0]) => {
      stop()
      resume(result)
    }
    source.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone).on("timeout", onTimeout)
    return Effect.sync(stop)
  })

/**
 * Lets a client that is still sending read its answer: what it sends is dropped for a moment, and if it has not ended by
 * then the connection is closed.
 */
export const linger = (source: IncomingMessage): void => {
  source.on("error", () => undefined)
  source.resume()
  setTimeout(() => {
    if (!source.complete) source.socket.destroy()
  }, lingerMillis).unref()
}

/**
 * The JSON body of a request, read within a limit and held in memory only up to it. An empty body is an empty object, so
 * that what is missing is named. Fails with 413 by the announced length or while it streams in, 415 when it is not JSON,
 * 503 when `hold` takes no more, 408 when it does not arrive in time, 400 when it is not sound UTF-8 and JSON.
 */
export const readBody = (
  source: IncomingMessage,
  limit: number,
  hold: Hold
): Effect.Effect<unknown, AnyApiError | TooSlow> =>
  Effect.suspend(() => {
    const { "content-encoding": encoding, "content-type": contentType } = source.headers
    if (!hasBody(source)) return Effect.succeed({})
    if ((announcedLength(source) ?? 0) > limit) return tooLarge(limit)
    if (contentType === undefined || !isJson(contentType) || (encoding !== undefined && encoding !== "identity")) {
      return new UnsupportedMediaType({ message: "send the body as Content-Type: application/json, in UTF-8" })
    }
    return Effect.flatMap(collect(source, limit, hold), parseBody)
  })
