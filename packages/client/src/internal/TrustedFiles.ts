import * as Effect from "effect/Effect"
import { type PrivateFileError, writePrivate } from "./PrivateFile.js"
import { readTrusted, trustedPath } from "./TrustedOrigins.js"

/** Adds a line, in place of those that it replaces. */
const trustLine = Effect.fnUntraced(function* (added: string, replaces: (line: string) => boolean) {
  const lines = yield* readTrusted
  if (lines.includes(added)) return
  const left = lines.filter((line) => !replaces(line))
  yield* writePrivate(yield* trustedPath, [...left, added].map((line) => `${line}\n`).join(""))
})

/** Stores that API keys may be sent to this origin. */
export const trustOrigin = (origin: string): Effect.Effect<void, PrivateFileError> => trustLine(origin, () => false)

/** Whether a file was trusted as it is, was trusted with another content, or was never trusted. */
export type FileTrust = "trusted" | "changed" | "unknown"

interface File {
  /** The absolute path. */
  readonly path: string
  readonly source: string
}

/** Loaded lazily: loading node:crypto takes half as long as starting Node, and few runs need it. */
const digest = (text: string): string =>
  process.getBuiltinModule("node:crypto").createHash("sha256").update(text, "utf8").digest("hex")

/** A path in one line, whatever it holds. */
const suffix = ({ path }: File) => ` ${JSON.stringify(path)}`

const lineOf = (file: File) => `sha256:${digest(file.source)}${suffix(file)}`

const isOf = (file: File) => (line: string) => line.startsWith("sha256:") && line.endsWith(suffix(file))

/** Whether this file was trusted, at this path and with this content. */
export const fileTrust = (file: File): Effect.Effect<FileTrust, PrivateFileError> =>
  Effect.map(readTrusted, (lines) => {
    const own = lines.filter(isOf(file))
    if (own.length === 0) return "unknown"
    return own.includes(lineOf(file)) ? "trusted" : "changed"
  })

/** Stores that this file is trusted as it is. Replaces what was stored for its path. */
export const trustFile = (file: File): Effect.Effect<void, PrivateFileError> => trustLine(lineOf(file), isOf(file))
