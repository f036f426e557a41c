import * as Either from "effect/Either"
import { parentPort } from "node:worker_threads"
import { parseJsonLines, parseLargeJson } from "./Json.js"

/** A text in UTF-8: the JSON of a body, or lines of JSON. */
export interface Text {
  readonly bytes: Uint8Array
  readonly form: "body" | "lines"
}

/** The thread's reply: the value, or what is wrong with the text. */
export type Parsed = { readonly value: unknown } | { readonly wrong: string }

parentPort?.on("message", ({ bytes, form }: Text) => {
  const parsed: Parsed = Either.match(form === "lines" ? parseJsonLines(bytes) : parseLargeJson(bytes), {
    onLeft: (wrong) => ({ wrong }),
    onRight: (value) => ({ value })
  })
  parentPort?.postMessage(parsed)
})
