import { Data, type Either } from "effect"
import { basename, extname } from "node:path"

/** The forms that secrets are written to files in. */
export const formatNames = ["env", "shell", "docker", "json", "yaml"] as const
export type FormatName = (typeof formatNames)[number]

/** A secret in the clear: between a `Redacted` and a file, and nowhere else. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** A pair that was read, with the line that it begins on. */
export interface Entry extends Pair {
  readonly line: number
}

/** Why a file cannot be read, without anything of its values. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly line: number; readonly problem: string }> {}

/** What `write` writes, `read` and the format's own readers read back to the same bytes. */
export interface Format {
  /** Why this pair cannot be written, for people: it completes "KEY …"; nothing where it can. */
  readonly refusal: (pair: Pair) => string | undefined
  readonly write: (pairs: ReadonlyArray<Pair>) => string
  readonly read: (text: string) => Either.Either<ReadonlyArray<Entry>, Unreadable>
}

const extensions: Readonly<Record<string, FormatName>> = {
  ".env": "env",
  ".sh": "shell",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml"
}

/** The format that a file's name tells: by its extension, and `.env`, `.env.local` and their like. */
export const formatOf = (path: string): FormatName | undefined =>
  extensions[extname(path).toLowerCase()] ?? (/^\.env(\.|$)/.test(basename(path)) ? "env" : undefined)

/** Where the lines of a text begin, to tell an offset's line. */
export const lineCounter = (text: string) => {
  let line = 1
  let counted = 0
  return (offset: number): number => {
    for (; counted < offset; counted++) if (text[counted] === "\n") line++
    return line
  }
}
