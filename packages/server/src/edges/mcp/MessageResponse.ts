import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** A result may hold a value: nobody stores it, and no proxy holds an event back. */
const eventHeaders = { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" }

const isComment = (chunk: Uint8Array): boolean => chunk[0] === ":".charCodeAt(0)

const contentTypeOf = ({ headers }: Response) => headers.get("content-type") ?? "application/json"

const cancelled = (reader: ReadableStreamDefaultReader<Uint8Array>) => Effect.promise(() => reader.cancel())

/** The next events; undefined at the end. A host that closes the response ends the call. */
const nextOf = (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  Effect.onInterrupt(
    Effect.promise(() => reader.read()),
    () => cancelled(reader)
  )

/** The events that follow. */
const eventsOf = (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  Stream.repeatEffectOption(
    Effect.flatMap(nextOf(reader), ({ value }) =>
      value === undefined ? Effect.fail(Option.none()) : Effect.succeed(value)
    )
  ).pipe(Stream.ensuring(cancelled(reader)))

/**
 * The response to a message. The request keeps what it holds until the call ends, or until the first comment of a call that
 * lasts: a stream follows then.
 */
export const responseOf = (response: Response): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    const { body, status } = response
    if (body === null) return HttpServerResponse.empty({ status })
    const contentType = contentTypeOf(response)
    if (!contentType.startsWith("text/event-stream")) {
      const bytes = yield* Effect.promise(() => response.arrayBuffer())
      return HttpServerResponse.uint8Array(new Uint8Array(bytes), { status, contentType })
    }
    const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
    const chunks: Array<Uint8Array> = []
    for (;;) {
      const { value } = yield* nextOf(reader)
      if (value === undefined) {
        return HttpServerResponse.uint8Array(Buffer.concat(chunks), { status, contentType, headers: eventHeaders })
      }
      chunks.push(value)
      if (isComment(value)) {
        return HttpServerResponse.stream(Stream.concat(Stream.fromIterable(chunks), eventsOf(reader)), {
          status,
          contentType,
          headers: eventHeaders
        })
      }
    }
  })
