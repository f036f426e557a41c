import { PayloadTooLarge, UnsupportedMediaType, ValidationError, type AnyApiError } from "@coffer/domain/Errors"
import { Effect, Either } from "effect"
import type { IncomingMessage } from "node:http"

const maxDepth = 32
/** How long a client that sends too much is listened to before its connection is closed. */
const lingerMillis = 2_000

const tooLarge = (limit: number) =>
  new PayloadTooLarge({ message: `the body is larger than the ${limit} bytes that this call takes` })

const isJson = (contentType: string): boolean =>
  /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(contentType.trim())

const utf8 = new TextDecoder("utf-8", { fatal: true })

const isWithinDepth = (value: unknown, depth: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((item) => isWithinDepth(item, depth - 1)))

/** Whether a string anywhere in a value is half of a surrogate pair, which an escape can write and UTF-8 cannot. */
const hasLoneSurrogate = (value: unknown): boolean =>
  typeof value === "string"
    ? /\p{Surrogate}/u.test(value)
    : typeof value === "object" &&
      value !== null &&
      Object.entries(value).some(([key, item]) => hasLoneSurrogate(key) || hasLoneSurrogate(item))

const refuse = (why: string) => new ValidationError({ message: `the body: ${why}` })

const parse = (bytes: Buffer): Either.Either<unknown, ValidationError> => {
  if (bytes.length === 0) return Either.right({})
  const text = Either.try({ try: () => utf8.decode(bytes), catch: () => refuse("is not UTF-8") })
  if (Either.isLeft(text)) return text
  const value = Either.try({
    try: (): unknown => JSON.parse(text.right),
    // The parser's own reason would repeat a piece of the body.
    catch: () => refuse("is not well-formed JSON")
  })
  if (Either.isLeft(value)) return value
  if (!isWithinDepth(value.right, maxDepth)) return Either.left(refuse(`is nested deeper than ${maxDepth} levels`))
  return /\\u[dD][89a-fA-F]/.test(text.right) && hasLoneSurrogate(value.right)
    ? Either.left(refuse("holds a lone surrogate, which is no text"))
    : value
}

const collect = (source: IncomingMessage, limit: number): Effect.Effect<unknown, AnyApiError> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
        return
      }
      stop()
      linger(source)
      resume(tooLarge(limit))
    }
    const onEnd = () => {
      stop()
      resume(parse(Buffer.concat(chunks, size)))
    }
    const onGone = () => {
      stop()
      resume(refuse("ended before it was whole"))
    }
    const stop = () => {
      source.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
    }
    source.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(stop)
  })

/**
 * Lets a client that is still sending read its answer: what it sends is dropped for a moment, and if it has not ended by
 * then the connection is closed.
 */
const linger = (source: IncomingMessage): void => {
  source.on("error", () => undefined)
  source.resume()
  setTimeout(() => {
    if (!source.complete) source.socket.destroy()
  }, lingerMillis).unref()
}

/**
 * The JSON body of a request, read within a limit and held in memory only up to it. An empty body is an empty object, so
 * that what is missing is named. Fails with 413 by the announced length or while it streams in, 415 when it is not JSON,
 * 400 when it is not sound UTF-8 and JSON.
 */
export const readBody = (source: IncomingMessage, limit: number): Effect.Effect<unknown, AnyApiError> =>
  Effect.suspend(() => {
    const { "content-encoding": encoding, "content-length": length, "content-type": contentType } = source.headers
    const hasBody = source.headers["transfer-encoding"] !== undefined || Number(length ?? 0) > 0
    if (!hasBody) return Effect.succeed({})
    if (Number(length ?? 0) > limit) {
      linger(source)
      return tooLarge(limit)
    }
    if (contentType === undefined || !isJson(contentType) || (encoding !== undefined && encoding !== "identity")) {
      return new UnsupportedMediaType({ message: "send the body as Content-Type: application/json, in UTF-8" })
    }
    return collect(source, limit)
  })
