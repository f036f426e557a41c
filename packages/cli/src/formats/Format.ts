import { maxKeys } from "@coffer/domain/SecretValues"
import { Data, Either } from "effect"
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
