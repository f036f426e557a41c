import type * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { type Entry, Findings, type Format, type Pair, toolHint, type Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"

const write = (pairs: ReadonlyArray<Pair>) => {
  const members = pairs.map(({ key, value }) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return members.length === 0 ? "{}\n" : `{\n${members.join(",\n")}\n}\n`
}

const space = /[ \t\r\n]*/y
const string = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"/y
/** A value that is not a text, but no list and no object either. */
const scalar = /-?[0-9][0-9.eE+-]*|true|false|null/y
const decodeString = Schema.decodeSync(Schema.parseJson(Schema.String))

const take = (scanner: Scanner, character: string): boolean => {
  scanner.skip(space)
  if (scanner.text[scanner.at] !== character) return false
  scanner.at++
  return true
}

/** Takes a text in double quotes; undefined if there is none, or it is too long for a value. */
export const takeText = (scanner: Scanner): string | undefined => {
  scanner.skip(space)
  const taken = scanner.take(string)
  return taken === null ? undefined : decodeString(taken[0])
}

/**
 * Takes one object, and each value by `member`, which returns false to stop. Returns what is wrong at the scanner's position, or
 * null if it was stopped. A parser for all of JSON loses line numbers and the first of two equal keys, and V8's parser quotes the
 * file in its errors.
 */
export const takeObject = (
  scanner: Scanner,
  example: string,
  member: (key: string, line: number) => boolean
): string | null | undefined => {
  if (!take(scanner, "{")) return `is not the start of an object such as ${example}`
  if (take(scanner, "}")) return undefined
  do {
    const key = takeText(scanner)
    if (key === undefined) return "is not valid JSON: expected a key in double quotes"
    const line = scanner.lineAt(scanner.at)
    if (!take(scanner, ":")) return "is not valid JSON: expected a colon"
    if (!member(key, line)) return null
  } while (take(scanner, ","))
  return take(scanner, "}") ? undefined : "is not valid JSON: expected a comma or the closing brace"
}

/** Returns the problem with the text after the object of a file; undefined if there is none. */
export const afterObject = (scanner: Scanner): string | undefined => {
  scanner.skip(space)
  return scanner.done ? undefined : "is not valid JSON: text after the object"
}

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const scanner = new Scanner(text)
  const found = new Findings()
  const wrong = takeObject(scanner, '{"KEY": "value"}', (key, line) => {
    const value = takeText(scanner)
    if (value !== undefined) found.add({ key, value, line })
    else {
      const line = scanner.lineAt(scanner.at)
      const isScalar = scanner.take(scalar) !== null
      const hint = isScalar ? `; ${toolHint}` : ""
      found.refuse(line, `${key} must have a text in double quotes as its value, of at most 64 KB${hint}`)
      if (!isScalar) return false
    }
    return !found.isStopped()
  })
  const problem = wrong === undefined ? afterObject(scanner) : wrong
  if (typeof problem === "string") found.stop(scanner.lineAt(scanner.at), problem)
  return found.result
}

/** A JSON object of texts. */
export const json: Format = { refusal: () => undefined, write, read }
