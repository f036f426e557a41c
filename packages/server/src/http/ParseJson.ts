import { ValidationError } from "@coffer/domain/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { nextTick } from "../base/EventLoop.js"
import { parseJson } from "./Json.js"

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
  const oneAtATime = Effect.unsafeMakeSemaphore(1)
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

  const send = (bytes: Uint8Array) =>
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
      thread.postMessage(bytes, bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [])
    })

  // Uninterruptible: the next request would receive the reply to an interrupted one.
  return (bytes: Uint8Array): Effect.Effect<unknown> => oneAtATime.withPermits(1)(Effect.uninterruptible(send(bytes)))
}

// The built file, even if this module runs from source: a worker needs JavaScript.
const parseInThread = makeThreadClient(createRequire(import.meta.url).resolve("@coffer/server/http/JsonWorker"))

/** Parses a body; an empty one becomes an empty object. May transfer `bytes` to a thread, so do not use them afterwards. */
export const parseBody = (bytes: Uint8Array): Effect.Effect<unknown, ValidationError> => {
  if (bytes.length === 0) return Effect.succeed({})
  if (bytes.length <= largeBytes) return Either.mapLeft(parseJson(bytes), refuse)
  // The reply is copied in this tick; decode it in another one.
  return Effect.flatMap(Effect.zipLeft(parseInThread(bytes), nextTick), (parsed) =>
    Predicate.hasProperty(parsed, "wrong")
      ? refuse(String(parsed.wrong))
      : Effect.succeed(Predicate.hasProperty(parsed, "value") ? parsed.value : undefined)
  )
}
