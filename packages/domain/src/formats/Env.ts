import { parse } from "dotenv"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { differences, hasDoubtfulEscape } from "./EnvNotes.js"
import { envRefusal, writeEnv } from "./EnvSpelling.js"
import { type Entry, Findings, type Format, Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"

const blank = /\s*/y
const comment = /#[^\n]*/y

/** The start of an assignment, as dotenv takes it. */
const head = /(?:export[^\S\n]+)?([\w.-]+)(?:[^\S\n]*=[^\S\n]*|:[^\S\n]+)/y

/** The start of a line that can be judged after one that cannot. */
const next = /^[^\S\n]*(?:export[^\S\n]+)?[\w.-]+(?:[^\S\n]*=|:[^\S\n])/m

/** A value as dotenv takes it: in quotes, which a backslash can escape, or else up to the end of the line; and a comment. */
const tail =
  /(?:('[^']*(?:(?<=\\)'[^']*)*'|"[^"]*(?:(?<=\\)"[^"]*)*"|`[^`]*(?:(?<=\\)`[^`]*)*`)|([^#\n]*))[^\S\n]*(#[^\n]*)?(?=\n|$)/y

/** Why an assignment is refused although dotenv reads something there. */
const doubt = (key: string, [whole, quoted, text, remark]: RegExpExecArray): string | undefined => {
  if (hasDoubtfulEscape(quoted)) {
    return `${key}: after another backslash, \\n and \\r are a line end for dotenv and not for others; put the value in single quotes, with one backslash`
  }
  if (text === undefined) return undefined
  if (/^['"`]/.test(text)) return `${key}: its quotes do not close at the end of the value`
  if (remark !== undefined && !/\s$/.test(whole.slice(0, -remark.length))) {
    return `${key}: a # directly after the text begins a comment for some readers and not for others; put the value in quotes`
  }
  return undefined
}

/** dotenv's own pattern can fill the stack of V8 too. */
const parseEnv = Option.liftThrowable((text: string) => parse(text))

const ownValue = (found: Readonly<Record<string, string>>, key: string) =>
  Object.hasOwn(found, key) ? found[key] : undefined

/**
 * Compares with what dotenv reads in the whole file: quotes can reach further than their line.
 *
 * @param text the file without its blank lines: dotenv's time is quadratic in a run of them.
 */
const findDifference = (text: string, entries: ReadonlyArray<Entry>): Entry | undefined => {
  const all = Option.getOrElse(parseEnv(text), () => ({}))
  const counts = new Map<string, number>()
  for (const { key } of entries) counts.set(key, (counts.get(key) ?? 0) + 1)
  return entries.find(({ key, value }) => counts.get(key) === 1 && ownValue(all, key) !== value)
}

/** A comment with its `#`: on a line of its own, or behind the value of a key. */
export interface Remark {
  readonly line: number
  readonly text: string
  readonly behind?: string
}

/** The content of a file, in the order of its lines. */
export interface Annotated {
  readonly entries: ReadonlyArray<Entry>
  readonly remarks: ReadonlyArray<Remark>
}

/** Reads a file with its comments. */
export const readAnnotated = (source: string): Either.Either<Annotated, Unreadable> => {
  const ended = source.replace(/\r\n/g, "\n")
  // dotenv does this first.
  const text = ended.replace(/\r/g, "\n")
  const scanner = new Scanner(text)
  const found = new Findings()
  const lines: Array<string> = []
  const remarks: Array<Remark> = []
  while (!found.isStopped()) {
    scanner.skip(blank)
    const begin = scanner.at
    if (text[begin] === "#") {
      scanner.skip(comment)
      const own = text.slice(begin, scanner.at)
      lines.push(own)
      remarks.push({ line: scanner.lineAt(begin), text: own })
      continue
    }
    if (scanner.done) break
    const line = scanner.lineAt(begin)
    const refuse = (problem: string) => {
      found.refuse(line, problem)
      scanner.skipTo(next)
    }
    const [assigned = "", key] = scanner.take(head) ?? []
    if (key === undefined) {
      refuse("is not KEY=value")
      continue
    }
    const taken = scanner.take(tail)
    if (taken === null) {
      found.tooLong(line, key)
      break
    }
    const problem = doubt(key, taken)
    if (problem !== undefined) {
      refuse(problem)
      continue
    }
    const whole = text.slice(begin, scanner.at)
    const value = Option.getOrUndefined(Option.map(parseEnv(whole), (own) => ownValue(own, key)))
    if (value === undefined) found.refuse(line, `${key}: dotenv does not read this; use json or yaml`)
    else {
      const spelled = ended.slice(begin, scanner.at)
      found.add({ key, value, line, ...differences({ quoted: taken[1], value, source: spelled, head: assigned }) })
    }
    if (taken[3] !== undefined) remarks.push({ line, text: taken[3], behind: key })
    lines.push(whole)
  }
  return Either.flatMap(found.result, (entries) => {
    const other = findDifference(lines.join("\n"), entries)
    if (other === undefined) return Either.right({ entries, remarks })
    const { key, line } = other
    const mistake = { line, problem: `${key}: its quotes can be read in two ways` }
    return Either.left(new Unreadable({ mistakes: [mistake], entries: Redacted.make(entries) }))
  })
}

const read = (source: string) => Either.map(readAnnotated(source), ({ entries }) => entries)

/** `.env` files: what is written means the same to all usual readers, and what is read means what npm's dotenv reads. */
export const env: Format = {
  head: "# For dotenv and its like. A shell that sources this file would run commands in values: use --format shell.\n",
  refusal: envRefusal,
  write: writeEnv,
  read
}
