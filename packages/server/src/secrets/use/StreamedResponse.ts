import type { Overloaded, UseBudget } from "@coffer/domain/errors/Errors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { OutboundError, type OutboundStream } from "../../base/outbound/Outbound.js"
import { makeScrub } from "./Scrub.js"
import { makeStreamScrub } from "./StreamScrub.js"
import { cleanHeaders, single, type Withheld } from "./UpstreamResponse.js"

/** How long a stream may last. */
const lifeMillis = 10 * 60_000

/** Parts that come faster are scrubbed together: each is decoded in all encodings. */
const restMillis = 20

/** How a stream ended, for the log. */
export interface StreamOutcome {
  readonly response: { readonly status: number; readonly truncated: boolean; readonly scrubbed: number }
  readonly bytes: number
}

type Failure = OutboundError | Withheld
type StreamExit = Exit.Exit<StreamOutcome, Failure>

export interface StreamedUse {
  readonly open: Effect.Effect<OutboundStream, OutboundError, Scope.Scope>
  /** Takes a slot for the scope. */
  readonly enter: Effect.Effect<void, Overloaded | UseBudget, Scope.Scope>
  readonly values: ReadonlyArray<string>
  readonly maxBytes: number
  readonly sentence: (failure: Failure) => string
  /** Writes the entry for the outcome. */
  readonly record: (exit: StreamExit) => Effect.Effect<void>
}

const line = (record: object): Uint8Array => Buffer.from(`${JSON.stringify(record)}\n`)

const errorLine = (code: string, message: string) => line({ error: { code, message } })

const isIdentity = (encoding: string): boolean => encoding === "" || encoding.toLowerCase() === "identity"

/**
 * The response as lines of JSON: `{"status","headers"}`, then `{"base64"}` for each part, and at last `{"end"}`, or `{"error"}`. The
 * request leaves when the first line is wanted. A reader that goes away ends it.
 */
export const streamedResponse = ({ enter, maxBytes, open, record, sentence, values }: StreamedUse) =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      let exit: StreamExit = Exit.interrupt(FiberId.none)
      yield* enter
      yield* Effect.addFinalizer(() => Effect.suspend(() => record(exit)))
      const deadline = (yield* Clock.currentTimeMillis) + lifeMillis

      const failWith = (failure: Failure) => {
        exit = Exit.fail(failure)
        return errorLine("UPSTREAM_FAILED", sentence(failure))
      }

      const begun = Effect.gen(function* () {
        const upstream = yield* open
        if (!isIdentity(single(upstream.headers["content-encoding"]))) return yield* Effect.fail("encoding" as const)
        const { count, headers } = yield* cleanHeaders(upstream, yield* makeScrub(values))
        // The tag of the body as it came lets the caller test guesses of what was replaced; its length is another one.
        delete headers["etag"]
        return { upstream, headers, count, scrub: yield* makeStreamScrub(values) }
      })
      const opened = yield* Effect.either(begun)
      if (opened._tag === "Left") return Stream.make(failWith(opened.left))
      const { count, headers, scrub, upstream } = opened.right

      let bytes = 0
      let scrubbed = count
      let isOver = false
      let last = 0

      const finish = (text: string, truncated: boolean) => {
        isOver = true
        exit = Exit.succeed({ response: { status: upstream.status, truncated, scrubbed }, bytes })
        const end = line({ end: { truncated, scrubbed, bytes } })
        return text === "" ? end : Buffer.concat([part(text), end])
      }
      const part = (text: string) => line({ base64: Buffer.from(text, "latin1").toString("base64") })

      const read = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (now - last < restMillis) yield* Effect.sleep(restMillis - (now - last))
        const chunk = yield* Effect.timeoutFail(upstream.next, {
          duration: Math.max(0, deadline - now),
          onTimeout: () => new OutboundError({ reason: "timeout" })
        })
        last = yield* Clock.currentTimeMillis
        if (chunk === null) {
          const clean = yield* scrub.end
          if (clean === null) return yield* Effect.fail("value" as const)
          scrubbed += clean.count
          return finish(clean.text, false)
        }
        const kept = chunk.subarray(0, maxBytes - bytes)
        bytes += kept.length
        const clean = yield* scrub.push(Buffer.from(kept).toString("latin1"))
        if (clean === null) return yield* Effect.fail("value" as const)
        scrubbed += clean.count
        // Text after the limit may be the rest of a value that was held back.
        if (kept.length < chunk.length) return finish(clean.text, true)
        return clean.text === "" ? new Uint8Array() : part(clean.text)
      })

      const next = Effect.suspend(() =>
        isOver
          ? Effect.fail(Option.none())
          : Effect.catchAll(read, (failure) =>
              Effect.sync(() => {
                isOver = true
                return failWith(failure)
              })
            )
      )
      return Stream.concat(
        Stream.make(line({ status: upstream.status, headers })),
        Stream.filter(Stream.repeatEffectOption(next), ({ length }) => length > 0)
      )
    }).pipe(Effect.catchAll(({ code, message }) => Effect.succeed(Stream.make(errorLine(code, message)))))
  )
