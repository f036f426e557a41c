import { FileSystem, Headers, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

/** Made by the build, of `docs/` and the contract; the same place from the sources and from the build. */
const pathOf = (name: string): string => fileURLToPath(new URL(`../../dist/documents/${name}`, import.meta.url))

/**
 * A file of the build as an answer. It is streamed: nobody who does not ask pays for it, and who asks and does not read holds
 * one piece of it. A file that is missing is a defect.
 */
const serve = Effect.fnUntraced(function* (name: string, contentType: string, headers: Headers.Input = {}) {
  const files = yield* FileSystem.FileSystem
  const { size } = yield* files.stat(pathOf(name))
  return HttpServerResponse.stream(files.stream(pathOf(name)), {
    contentType,
    contentLength: Number(size),
    headers: Headers.fromInput(headers)
  })
}, Effect.orDie)

/** The contract as OpenAPI 3.1. */
export const openApi = serve("openapi.json", "application/json")

/** The documentation's index, in the form of https://llmstxt.org. */
export const llms = serve("llms.txt", "text/plain; charset=utf-8")

/** The whole documentation as plain text. */
export const llmsFull = serve("llms-full.txt", "text/plain; charset=utf-8")

/**
 * The one page for browsers. Its policy names its own programs by their hashes: nothing else runs in it, and it loads
 * nothing from elsewhere.
 */
export const docs = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const policy = yield* Effect.orDie(files.readFileString(pathOf("docs.csp")))
  return yield* serve("docs.html", "text/html; charset=utf-8", {
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY"
  })
})
