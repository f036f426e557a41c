import { FileSystem, Headers, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { builtFile } from "../../base/BuiltFiles.js"

/** The build writes these files from `docs/` and the contract. */
const pathOf = (name: string): string => builtFile(`documents/${name}`)

/** Responds with a file of the build. All responses share its bytes, so slow clients cost no memory. Dies if it is missing. */
const serve = (name: string, contentType: string, headers: Headers.Input = {}) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFile(pathOf(name))).pipe(
    Effect.map((bytes) => HttpServerResponse.uint8Array(bytes, { contentType, headers: Headers.fromInput(headers) })),
    Effect.orDie
  )

/** The page for browsers. Its Content-Security-Policy allows only its own scripts, by hash, and no external resources. */
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

/** Uninterruptible: a first client that closes the connection must not leave an interrupted result in the cache. */
const cached = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.cached(Effect.uninterruptible(effect))

/** The static documents: OpenAPI 3.1, the page for browsers, and the documentation in the formats of https://llmstxt.org. */
export const documents = Effect.all({
  openApi: cached(serve("openapi.json", "application/json")),
  docs: cached(docs),
  llms: cached(serve("llms.txt", "text/plain; charset=utf-8")),
  llmsFull: cached(serve("llms-full.txt", "text/plain; charset=utf-8"))
})
