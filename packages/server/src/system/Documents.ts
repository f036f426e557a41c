import { FileSystem, Headers, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"

/** Made by the build, of `docs/` and the contract; the same place from the sources and from the build. */
const pathOf = (name: string): string => fileURLToPath(new URL(`../../dist/documents/${name}`, import.meta.url))

/**
 * A file of the build as an answer. It is read when somebody asks for the first time; all answers share its bytes, however many
 * clients are slow to take them. A file that is missing is a defect.
 */
const serve = (name: string, contentType: string, headers: Headers.Input = {}) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFile(pathOf(name))).pipe(
    Effect.map((bytes) => HttpServerResponse.uint8Array(bytes, { contentType, headers: Headers.fromInput(headers) })),
    Effect.orDie
  )

/**
 * The one page for browsers. Its policy names its own programs by their hashes: nothing else runs in it, and it loads
 * nothing from elsewhere.
 */
const docs = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const policy = yield* Effect.orDie(files.readFileString(pathOf("docs.csp")))
  return yield* serve("docs.html", "text/html; charset=utf-8", {
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY"
  })
})

/** Made once, by the first who asks, whether or not that client waits for it. */
const cached = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.cached(Effect.uninterruptible(effect))

/** The static documents: the contract as OpenAPI 3.1, the page, and the documentation in the forms of https://llmstxt.org. */
export const documents = Effect.all({
  openApi: cached(serve("openapi.json", "application/json")),
  docs: cached(docs),
  llms: cached(serve("llms.txt", "text/plain; charset=utf-8")),
  llmsFull: cached(serve("llms-full.txt", "text/plain; charset=utf-8"))
})
