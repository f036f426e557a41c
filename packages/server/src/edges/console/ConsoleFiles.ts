import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { builtFile } from "../../base/BuiltFiles.js"
import { readStaticFile, type StaticFile } from "../../http/StaticFile.js"

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

/**
 * Reads every file of the console, by its path below the server's root, without the first slash. The paths of requests are only
 * looked up among these names, so that no path leads to another file. Empty if there is no build.
 */
export const readConsole = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* files.exists(folder))) return new Map<string, StaticFile>()
  const paths = yield* files.readDirectory(folder, { recursive: true })
  const found = paths.flatMap((path) => {
    const contentType = contentTypes[path.slice(path.lastIndexOf(".") + 1)]
    return contentType === undefined
      ? []
      : [Effect.map(readStaticFile(`${folder}/${path}`, contentType), (file) => [path, file] as const)]
  })
  return new Map<string, StaticFile>(yield* Effect.all(found, { concurrency: 8 }))
}, Effect.orDie)
