import * as FileSystem from "@effect/platform/FileSystem"
import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { preferredCoding } from "./AcceptEncoding.js"
import { contentETag, namesETag } from "./ETag.js"

/** The codings of the build, the best first. */
const codings = [
  { name: "br", extension: ".br" },
  { name: "gzip", extension: ".gz" }
] as const

type Coding = (typeof codings)[number]["name"]

/** The bytes of a file in a content coding; null for the file itself. */
interface Variant {
  readonly coding: Coding | null
  readonly bytes: Uint8Array
  /** Differs by coding, as RFC 9110, section 8.8.3.3 requires of a strong tag. */
  readonly etag: string
}

/** A file of the build in memory. All responses share its bytes, so slow clients cost no memory. */
export interface StaticFile {
  readonly contentType: string
  /** The best first; the file itself is the last. */
  readonly variants: ReadonlyArray<Variant>
}

/** Reads a file and its compressed copies, which the build makes, so that no request compresses anything. */
export const readStaticFile = Effect.fnUntraced(function* (path: string, contentType: string) {
  const files = yield* FileSystem.FileSystem
  const variant = (file: string, coding: Coding | null) =>
    Effect.map(files.readFile(file), (bytes): Variant => ({ coding, bytes, etag: contentETag(bytes) }))
  const coded = yield* Effect.filter(codings, ({ extension }) => files.exists(`${path}${extension}`))
  const variants = yield* Effect.all([
    ...coded.map(({ extension, name }) => variant(`${path}${extension}`, name)),
    variant(path, null)
  ])
  const file: StaticFile = { contentType, variants }
  return file
})

const variantFor = (variants: ReadonlyArray<Variant>, acceptEncoding: string | undefined): Variant | undefined => {
  const preferred = preferredCoding(
    acceptEncoding,
    variants.flatMap(({ coding }) => coding ?? [])
  )
  return variants.find(({ coding }) => coding === preferred)
}

/** Responds with the best variant of a file that the request takes, or with 304 if the client has it. */
export const staticResponse = (
  { contentType, variants }: StaticFile,
  requested: Headers.Headers,
  headers: Headers.Input
): HttpServerResponse.HttpServerResponse => {
  const variant = variantFor(variants, requested["accept-encoding"])
  if (variant === undefined) return HttpServerResponse.empty({ status: 406 })
  const { bytes, coding, etag } = variant
  const all = Headers.setAll(Headers.fromInput(headers), {
    etag,
    ...(coding !== null && { "content-encoding": coding })
  })
  const known = requested["if-none-match"]
  return known !== undefined && namesETag(known, etag)
    ? HttpServerResponse.empty({ status: 304, headers: all })
    : HttpServerResponse.uint8Array(bytes, { contentType, headers: all })
}
