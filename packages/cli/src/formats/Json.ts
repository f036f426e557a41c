import { Either, Schema } from "effect"
import { type Entry, type Format, isTooMany, type Pair, tooMany, Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"

const write = (pairs: ReadonlyArray<Pair>) => {
  const members = pairs.map(({ key, value }) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return members.length === 0 ? "{}\n" : `{\n${members.join(",\n")}\n}\n`
}

const space = /[ \t\r\n]*/y
const string = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*)*"/y
const decodeString = Schema.decodeSync(Schema.parseJson(Schema.String))

/**
 * Reads one object of texts. A parser for all of JSON loses line numbers and the first of two equal keys, and V8's parser
 * quotes the file in its errors.
 */
const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const scanner = new Scanner(text)
  const entries: Array<Entry> = []
  const next = () => {
    scanner.skip(space)
    return text[scanner.at]
  }
  const take = (character: string) => {
    if (next() !== character) return false
    scanner.at++
    return true
  }
  const takeString = () => {
    next()
    const found = scanner.take(string)
    return found === null ? undefined : decodeString(found[0])
  }
  const line = () => scanner.lineAt(scanner.at)
  const refuse = (problem: string) => Either.left(new Unreadable({ line: line(), problem }))
  if (!take("{")) return refuse('is not the start of an object such as {"KEY": "value"}')
  if (!take("}")) {
    do {
      const key = takeString()
      if (key === undefined) return refuse("is not valid JSON: expected a key in double quotes")
      const begins = line()
      if (!take(":")) return refuse("is not valid JSON: expected a colon")
      const value = takeString()
      if (value === undefined) return refuse(`${key} must have a text in double quotes as its value, of at most 64 KB`)
      entries.push({ key, value, line: begins })
      if (isTooMany(entries)) return tooMany(begins)
    } while (take(","))
    if (!take("}")) return refuse("is not valid JSON: expected a comma or the closing brace")
  }
  return next() === undefined ? Either.right(entries) : refuse("is not valid JSON: text after the object")
}

/** A JSON object of texts. */
export const json: Format = { refusal: () => undefined, write, read }
