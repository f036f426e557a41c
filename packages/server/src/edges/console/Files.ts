import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { builtFile } from "../../base/BuiltFiles.js"

/** The codings of the build, the best first. */
const codings = [
  { name: "br", extension: ".br" },
  { name: "gzip", extension: ".gz" }
] as const

type Coding = (typeof codings)[number]["name"]

/** The bytes of a file in a content coding; null for the file itself. */
export interface Variant {
  readonly coding: Coding | null
  readonly bytes: Uint8Array
  /** Differs by coding, as RFC 9110, section 8.8.3.3 requires of a strong tag. */
  readonly etag: string
}

export interface ConsoleFile {
  readonly contentType: string
  /** The best first; the file itself is the last. */
  readonly variants: ReadonlyArray<Variant>
}

/** The files of the console by their path below the server's root, without the first slash. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webmanifest: "application/manifest+json",
  woff2: "font/woff2"
}

/** `scripts/console.mjs` writes the build here. */
export const consoleFolder = builtFile("web/")

const isCompressed = (name: string): boolean => codings.some(({ extension }) => name.endsWith(extension))

const etagOf = (bytes: Uint8Array): string => `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`

/**
 * Reads every file of the console. The paths of requests are only looked up among these names, so that no path leads to
 * another file. Empty if there is no build.
 */
export const readConsole = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* files.exists(folder))) return new Map<string, ConsoleFile>()
  const paths = new Set(yield* files.readDirectory(folder, { recursive: true }))
  const variant = (path: string, coding: Coding | null) =>
    Effect.map(files.readFile(`${folder}/${path}`), (bytes): Variant => ({ coding, bytes, etag: etagOf(bytes) }))
  const read = Effect.fnUntraced(function* (path: string, contentType: string) {
    const coded = codings.filter(({ extension }) => paths.has(`${path}${extension}`))
    const variants = yield* Effect.all([
      ...coded.map(({ extension, name }) => variant(`${path}${extension}`, name)),
      variant(path, null)
    ])
    return [path, { contentType, variants }] as const
  })
  const found = [...paths].flatMap((path) => {
    const contentType = contentTypes[path.slice(path.lastIndexOf(".") + 1)]
    return contentType === undefined || isCompressed(path) ? [] : [read(path, contentType)]
  })
  return new Map<string, ConsoleFile>(yield* Effect.all(found, { concurrency: 8 }))
}, Effect.orDie)
