import { ValidationError } from "@coffer/domain/Errors"
import { Effect, Either, Predicate } from "effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { nextTick } from "../EventLoop.js"
import { parseJson } from "./Json.js"

/** Larger bodies are parsed on a thread of their own: the largest would hold every other request up for half a second. */
const largeBytes = 64 * 1024

/** The largest body as text, as values and as what is sent back: with this, four times over. */
const maxHeapMebibytes = 128

const refuse = (wrong: string) => new ValidationError({ message: `the body: ${wrong}` })

/**
 * Asks a thread, one question at a time. The thread is started at the first question and kept. When it dies, the question that
 * it was asked is a defect, and the next question has a new thread.
 */
export const askThread = (script: string) => {
  const oneAtATime = Effect.unsafeMakeSemaphore(1)
  let running: Worker | undefined

  const start = (): Worker => {
    const thread = new Worker(script, {
      // The environment holds the master key: it is not for this thread.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMebibytes, maxYoungGenerationSizeMb: 32 }
    })
    const forget = () => {
      if (running === thread) running = undefined
    }
    thread.on("error", forget).on("exit", forget)
    // It does not keep the process alive.
    thread.unref()
    return thread
  }

  const answer = (question: Uint8Array) =>
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
      thread.postMessage(question, question.buffer instanceof ArrayBuffer ? [question.buffer] : [])
    })

  // An answer belongs to its question: whoever asked waits for it.
  return (question: Uint8Array): Effect.Effect<unknown> =>
    oneAtATime.withPermits(1)(Effect.uninterruptible(answer(question)))
}

// The build, also where this module runs from its source: a thread is started from JavaScript.
const ask = askThread(createRequire(import.meta.url).resolve("@coffer/server/http/JsonWorker"))

/** The value of a body: an empty one is an empty object. Takes the bytes over. */
export const parseBody = (bytes: Uint8Array): Effect.Effect<unknown, ValidationError> => {
  if (bytes.length === 0) return Effect.succeed({})
  if (bytes.length <= largeBytes) return Either.mapLeft(parseJson(bytes), refuse)
  // What a thread answers is copied here, and decoded in another turn.
  return Effect.flatMap(Effect.zipLeft(ask(bytes), nextTick), (parsed) =>
    Predicate.hasProperty(parsed, "wrong")
      ? refuse(String(parsed.wrong))
      : Effect.succeed(Predicate.hasProperty(parsed, "value") ? parsed.value : undefined)
  )
}
