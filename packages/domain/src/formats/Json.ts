import type * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { type Entry, Findings, type Format, type Pair, type Unreadable } from "./Format.js"
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

/**
 * Reads one object of texts. A parser for all of JSON loses line numbers and the first of two equal keys, and V8's parser
 * quotes the file in its errors.
 */
const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const scanner = new Scanner(text)
  const found = new Findings()
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
    const taken = scanner.take(string)
    return taken === null ? undefined : decodeString(taken[0])
  }
  const line = () => scanner.lineAt(scanner.at)
  const stop = (problem: string) => {
    found.stop(line(), problem)
    return found.result
  }
  if (!take("{")) return stop('is not the start of an object such as {"KEY": "value"}')
  if (!take("}")) {
    do {
      const key = takeString()
      if (key === undefined) return stop("is not valid JSON: expected a key in double quotes")
      const begins = line()
      if (!take(":")) return stop("is not valid JSON: expected a colon")
      const value = takeString()
      if (value !== undefined) found.add({ key, value, line: begins })
      else {
        found.refuse(line(), `${key} must have a text in double quotes as its value, of at most 64 KB`)
        if (scanner.take(scalar) === null) return found.result
      }
      if (found.isStopped()) return found.result
    } while (take(","))
    if (!take("}")) return stop("is not valid JSON: expected a comma or the closing brace")
  }
  return next() === undefined ? found.result : stop("is not valid JSON: text after the object")
}

/** A JSON object of texts. */
export const json: Format = { refusal: () => undefined, write, read }
