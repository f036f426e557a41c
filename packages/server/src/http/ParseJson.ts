import { ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { nextTick } from "../base/EventLoop.js"
import { makeFairSemaphore } from "../base/FairSemaphore.js"
import { sharedBounds } from "../base/SharedBounds.js"
import { parseJson } from "./Json.js"
import type { Text } from "./JsonWorker.js"

/** Larger bodies are parsed in a worker thread: the largest would block the event loop for half a second. */
const largeBytes = 64 * 1024

/** Four times what the largest body takes as text, as values and as the reply. */
const maxHeapMebibytes = 128

const refuse = (wrong: string) => new ValidationError({ message: `the body: ${wrong}` })

/**
 * Sends requests to a worker thread, one at a time. The thread is started on the first request and reused. If it dies, the
 * current request dies, and the next one starts a new thread.
 */
export const makeThreadClient = (script: string) => {
  const turns = makeFairSemaphore(sharedBounds.bodyParser)
  let running: Worker | undefined

  const start = (): Worker => {
    const thread = new Worker(script, {
      // The environment holds the master key, which this thread must not see.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMebibytes, maxYoungGenerationSizeMb: 32 }
    })
    const forget = () => {
      if (running === thread) running = undefined
    }
    thread.on("error", forget).on("exit", forget)
    // Do not keep the process alive.
    thread.unref()
    return thread
  }

  const send = (text: Text) =>
    Effect.async<unknown>((resume) => {
      const thread = (running ??= start())
      const finish = (end: Effect.Effect<unknown>) => {
        thread.off("message", onMessage).off("error", onEnd).off("exit", onEnd)
        resume(end)
      }
      const onMessage = (message: unknown) => {
        finish(Effect.succeed(message))
      }
      const onEnd = () => {
        finish(Effect.dieMessage("the thread that parses large bodies ended"))
      }
      thread.on("message", onMessage).on("error", onEnd).on("exit", onEnd)
      const { buffer } = text.bytes
      thread.postMessage(text, buffer instanceof ArrayBuffer ? [buffer] : [])
    })

  // Uninterruptible: the next request would receive the reply to an interrupted one.
  return (text: Text): Effect.Effect<unknown> => turns.inside(Effect.uninterruptible(send(text)))
}

// The built file, even if this module runs from source: a worker needs JavaScript.
const parseInThread = makeThreadClient(createRequire(import.meta.url).resolve("@coffer/server/http/JsonWorker"))

/** Parses a text in the thread. May transfer its bytes, so do not use them afterwards. Fails with what is wrong with it. */
const parseLarge = (text: Text): Effect.Effect<unknown, string> =>
  // The reply is copied in this tick; decode it in another one.
  Effect.flatMap(Effect.zipLeft(parseInThread(text), nextTick), (parsed) =>
    Predicate.hasProperty(parsed, "wrong")
      ? Effect.fail(String(parsed.wrong))
      : Effect.succeed(Predicate.hasProperty(parsed, "value") ? parsed.value : undefined)
  )

/** Parses a body; an empty one becomes an empty object. May transfer `bytes` to a thread, so do not use them afterwards. */
export const parseBody = (bytes: Uint8Array): Effect.Effect<unknown, ValidationError> => {
  if (bytes.length === 0) return Effect.succeed({})
  return bytes.length <= largeBytes
    ? Either.mapLeft(parseJson(bytes), refuse)
    : Effect.mapError(parseLarge({ bytes, form: "body" }), refuse)
}

/** A line may be as long as its longest record: 100 environments, each with a protection that names 200 people. */
const maxLine = 6 * 1024 * 1024

/** Cuts a text at ends of lines, into pieces of as many lines as are parsed at once; a longer line is one piece. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const within = text.lastIndexOf("\n", at + largeBytes)
    const end = within >= at ? within : text.indexOf("\n", at)
    yield text.slice(at, end < 0 ? text.length : end)
    at = end < 0 ? text.length : end + 1
  }
}

/**
 * Parses lines of JSON of a caller in the thread, a piece at a time, and hands each piece's values to `take`, so that what is wrong
 * with a first line ends it. Fails with what is wrong with a line; it repeats nothing of it.
 */
export const parseLines = <E>(
  text: string,
  take: (values: ReadonlyArray<unknown>) => Effect.Effect<void, E>
): Effect.Effect<void, E | string> =>
  Effect.gen(function* () {
    for (const piece of piecesOf(text)) {
      if (piece.length > maxLine) return yield* Effect.fail(`has more than ${maxLine} characters`)
      const parsed = yield* parseLarge({ bytes: new TextEncoder().encode(piece), form: "lines" })
      yield* take(Array.isArray(parsed) ? parsed : [])
    }
  })
