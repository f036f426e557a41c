import { Either, Schema } from "effect"
import { type Entry, type Format, lineCounter, type Pair, Unreadable } from "./Format.js"

const write = (pairs: ReadonlyArray<Pair>) => {
  const members = pairs.map(({ key, value }) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  return members.length === 0 ? "{}\n" : `{\n${members.join(",\n")}\n}\n`
}

const string = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y
const decodeString = Schema.decodeSync(Schema.parseJson(Schema.String))

/**
 * One object of texts. A parser of all of JSON forgets lines and the first of two equal keys, and V8's quotes the file in
 * its errors.
 */
const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const lineAt = lineCounter(text)
  const entries: Array<Entry> = []
  let at = 0
  const space = () => {
    while (/^[ \t\r\n]$/.test(text.charAt(at))) at++
  }
  const take = (character: string) => {
    space()
    if (text[at] !== character) return false
    at++
    return true
  }
  const takeString = () => {
    space()
    string.lastIndex = at
    const found = string.exec(text)
    if (found === null) return undefined
    at = string.lastIndex
    return decodeString(found[0])
  }
  const refuse = (problem: string) => Either.left(new Unreadable({ line: lineAt(at), problem }))
  if (!take("{")) return refuse('is not the start of an object such as {"KEY": "value"}')
  if (!take("}")) {
    do {
      const key = takeString()
      if (key === undefined) return refuse("is not valid JSON: here belongs a key in double quotes")
      const line = lineAt(at)
      if (!take(":")) return refuse("is not valid JSON: here belongs a colon")
      const value = takeString()
      if (value === undefined) return refuse(`${key} must have a text in double quotes as its value`)
      entries.push({ key, value, line })
    } while (take(","))
    if (!take("}")) return refuse("is not valid JSON: here belongs a comma or the closing brace")
  }
  space()
  return at < text.length ? refuse("is not valid JSON: nothing belongs behind the object") : Either.right(entries)
}

/** A JSON object of texts. */
export const json: Format = { refusal: () => undefined, write, read }
