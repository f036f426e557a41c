import { maxKeys } from "@coffer/domain/SecretValues"
import { Data, Either } from "effect"
import { basename, extname } from "node:path"

/** The file formats of import and export. */
export const formatNames = ["env", "shell", "docker", "json", "yaml"] as const
export type FormatName = (typeof formatNames)[number]

/** A secret in clear text. Only between a `Redacted` and a file. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** A pair that was read, with its first line. */
export interface Entry extends Pair {
  readonly line: number
}

/** Why a file cannot be read. The message holds no value. */
export class Unreadable extends Data.TaggedError("Unreadable")<{ readonly line: number; readonly problem: string }> {}

/** `read` and the format's own readers read the output of `write` back to the same bytes. */
export interface Format {
  /** Why this pair cannot be written, as the end of a sentence "KEY …". */
  readonly refusal: (pair: Pair) => string | undefined
  readonly write: (pairs: ReadonlyArray<Pair>) => string
  /** Comments at the start of a file: which reader it is for. */
  readonly head?: string
  readonly read: (text: string) => Either.Either<ReadonlyArray<Entry>, Unreadable>
}

const extensions: Readonly<Record<string, FormatName>> = {
  ".env": "env",
  ".sh": "shell",
  ".json": "json",
  ".yaml": "yaml",
  ".yml": "yaml"
}

/** The format by a file's name: by its extension, or a name such as `.env.local`. */
export const formatOf = (path: string): FormatName | undefined =>
  extensions[extname(path).toLowerCase()] ?? (/^\.env(\.|$)/.test(basename(path)) ? "env" : undefined)

/** Whether a reader has found more secrets than can be written. It stops there: the rest of a large file is not read. */
export const isTooMany = (entries: ReadonlyArray<Entry>): boolean => entries.length > maxKeys

export const tooMany = (line: number) =>
  Either.left(
    new Unreadable({
      line,
      problem: `the file holds more than ${maxKeys} secrets, and no more can be written at once: split it`
    })
  )

/** A value whose spelling is longer than any that can be stored. */
export const tooLong = (line: number, key: string) =>
  Either.left(new Unreadable({ line, problem: `${key}: the value is larger than 64 KB, or its quotes do not close` }))
