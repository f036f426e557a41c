import { maxKeys } from "../secrets/SecretValues.js"
import * as Array from "effect/Array"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { FormatName } from "./FormatNames.js"

/** A secret in clear text. Only between a `Redacted` and a file. */
export interface Pair {
  readonly key: string
  readonly value: string
}

/** A pair that was read, with its first line. */
export interface Entry extends Pair {
  readonly line: number
  /** Parts of the value that other readers replace, and this one keeps. */
  readonly kept?: ReadonlyArray<string>
  /** Other differences between readers, as the ends of sentences "KEY …". */
  readonly notes?: ReadonlyArray<string>
  /** Whether some reader replaces variables in the value. */
  readonly isExpandable?: boolean
}

/** A mistake in a file. The text holds no value. */
export interface Mistake {
  readonly line: number
  readonly problem: string
}

/** A reader stops after this many mistakes. */
const maxMistakes = 100

/** Why a file cannot be read: all mistakes up to the first that hides what follows. */
export class Unreadable extends Data.TaggedError("Unreadable")<{
  readonly mistakes: Array.NonEmptyReadonlyArray<Mistake>
  /** The pairs that were read nevertheless. */
  readonly entries: Redacted.Redacted<ReadonlyArray<Entry>>
}> {}

/** At most this many mistakes of a file are shown. */
const maxShown = 20

/** A file with mistakes, in the order of its lines. */
export class BadFile extends Data.TaggedError("BadFile")<{
  readonly file: string
  readonly mistakes: Array.NonEmptyReadonlyArray<Mistake>
}> {
  /** A line for each mistake. */
  get lines(): ReadonlyArray<string> {
    const { file, mistakes } = this
    const more = mistakes.length - maxShown
    const shown = mistakes.slice(0, maxShown).map(({ line, problem }) => `${file}, line ${line}: ${problem}`)
    return more > 0 ? [...shown, `and ${more} more`] : shown
  }

  override get message() {
    const { file, mistakes } = this
    const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`
    return `${file} has ${count}, so nothing was written; correct ${mistakes.length === 1 ? "it" : "them"} and try again`
  }
}

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
export const formatOf = (path: string): FormatName | undefined => {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
  const [, extension = ""] = /.(\.[^.]+)$/.exec(name) ?? []
  return extensions[extension.toLowerCase()] ?? (/^\.env(\.|$)/.test(name) ? "env" : undefined)
}

/** The next step for numbers, booleans and null: how they become text depends on the tool. */
export const toolHint = "coffer import takes numbers, true, false and null of the tool that it names"

/** The entries and mistakes that a reader finds in a file. */
export class Findings {
  private readonly entries: Array<Entry> = []
  private readonly mistakes: Array<Mistake> = []
  private stopped = false

  /** Whether the rest of the file is not to be read. */
  isStopped(): boolean {
    return this.stopped
  }

  /** Adds a pair. Stops at more than can be written: the rest of a large file is not read. */
  add(entry: Entry): void {
    this.entries.push(entry)
    if (this.entries.length > maxKeys) this.tooMany(entry.line)
  }

  tooMany(line: number): void {
    this.stop(line, `the file holds more than ${maxKeys} secrets, and no more can be written at once: split it`)
  }

  /** Records a mistake. */
  refuse(line: number, problem: string): void {
    this.mistakes.push({ line, problem })
    if (this.mistakes.length >= maxMistakes) this.stopped = true
  }

  /** Records a mistake that hides what follows it. */
  stop(line: number, problem: string): void {
    this.refuse(line, problem)
    this.stopped = true
  }

  /** A value whose spelling is longer than any that can be stored. */
  tooLong(line: number, key: string): void {
    this.stop(line, `${key}: the value is larger than 64 KB, or its quotes do not close`)
  }

  get result(): Either.Either<ReadonlyArray<Entry>, Unreadable> {
    const { entries, mistakes } = this
    return Array.isNonEmptyReadonlyArray(mistakes)
      ? Either.left(new Unreadable({ mistakes, entries: Redacted.make(entries) }))
      : Either.right(entries)
  }
}
