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

/** The headers of a page for browsers. Its policy allows only its own scripts and styles, and no external resources. */
const pageHeaders = (policy: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    return {
      "content-security-policy": yield* files.readFileString(pathOf(policy)),
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY"
    }
  })

/** The kinds of files of the documentation, by the end of their name. */
const kinds: Readonly<Record<string, string>> = {
  ".md": "text/markdown; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".webp": "image/webp",
  ".svg": "image/svg+xml"
}

/**
 * The pages of the documentation, and of the groups of calls, by name: `operations/restore.md` as a text,
 * `operations/restore` for a browser, and the pictures.
 */
export const documentPages = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const names = yield* Effect.orDie(files.readDirectory(pathOf("pages"), { recursive: true }))
  const found = names.flatMap((name) => {
    const [end = ""] = /\.[a-z]+$/.exec(name) ?? []
    return kinds[end] === undefined ? [] : [{ contentType: kinds[end], isPage: end === ".html", name }]
  })
  const made = yield* Effect.forEach(found, ({ contentType, isPage, name }) =>
    Effect.map(
      document(`pages/${name}`, contentType, isPage ? pageHeaders("pages.csp") : undefined),
      (file) =>
        [
          isPage ? name.slice(0, -".html".length) : name,
          Effect.provideService(file, FileSystem.FileSystem, files)
        ] as const
    )
  )
  return new Map(made)
})

/** The static documents: OpenAPI 3.1, the page for browsers, and the documentation in the formats of https://llmstxt.org. */
export const documents = Effect.all({
  openApi: document("openapi.json", "application/json"),
  docs: document("docs.html", "text/html; charset=utf-8", pageHeaders("docs.csp")),
  llms: document("llms.txt", "text/plain; charset=utf-8"),
  llmsFull: document("llms-full.txt", "text/plain; charset=utf-8")
})
