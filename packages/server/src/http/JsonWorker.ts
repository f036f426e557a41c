import * as Either from "effect/Either"
import { parentPort } from "node:worker_threads"
import { parseLargeJson } from "./Json.js"

/** The thread's reply: the value, or what is wrong with the body. */
export type Parsed = { readonly value: unknown } | { readonly wrong: string }

parentPort?.on("message", (bytes: Uint8Array) => {
  const parsed: Parsed = Either.match(parseLargeJson(bytes), {
    onLeft: (wrong) => ({ wrong }),
    onRight: (value) => ({ value })
  })
  parentPort?.postMessage(parsed)
})
