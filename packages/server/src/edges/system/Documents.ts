import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { builtFile } from "../../base/BuiltFiles.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { readStaticFile, staticResponse } from "../../http/StaticFile.js"

/** The build writes these files from `docs/` and the contract. */
const pathOf = (name: string): string => builtFile(`documents/${name}`)

/** Reads once. Uninterruptible: a first client that closes the connection must not leave an interrupted result in the cache. */
const cached = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.cached(Effect.uninterruptible(Effect.orDie(effect)))

/** Responds with a file of the build. Dies if it is missing. */
const document = (
  name: string,
  contentType: string,
  headersOf: Effect.Effect<Readonly<Record<string, string>>, unknown, FileSystem.FileSystem> = Effect.succeed({})
) =>
  Effect.map(cached(Effect.all([readStaticFile(pathOf(name), contentType), headersOf])), (read) =>
    Effect.zipWith(read, NodeRequest.current, ([file, headers], request) =>
      staticResponse(file, request.headers, { vary: "accept-encoding", ...headers })
    )
  )

/** The page for browsers. Its Content-Security-Policy allows only its own scripts, by hash, and no external resources. */
const ofPage = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  return {
    "content-security-policy": yield* files.readFileString(pathOf("docs.csp")),
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY"
  }
})

/** The pages of the documentation, and of the groups of calls, each as a text by its name such as `operations/restore.md`. */
export const documentPages = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const names = (yield* Effect.orDie(files.readDirectory(pathOf("pages"), { recursive: true }))).filter((name) => name.endsWith(".md"))
  const made = yield* Effect.forEach(names, (name) =>
    Effect.map(
      document(`pages/${name}`, "text/markdown; charset=utf-8"),
      (page) => [name, Effect.provideService(page, FileSystem.FileSystem, files)] as const
    )
  )
  return new Map(made)
})

/** The static documents: OpenAPI 3.1, the page for browsers, and the documentation in the formats of https://llmstxt.org. */
export const documents = Effect.all({
  openApi: document("openapi.json", "application/json"),
  docs: document("docs.html", "text/html; charset=utf-8", ofPage),
  llms: document("llms.txt", "text/plain; charset=utf-8"),
  llmsFull: document("llms-full.txt", "text/plain; charset=utf-8")
})
