import { parse } from "dotenv"
import { Either } from "effect"
import { type Entry, type Format, lineCounter, type Pair, Unreadable } from "./Format.js"

/** How a value can be written. dotenv knows no escapes but `\n` and `\r` in double quotes. */
const spellings: ReadonlyArray<(value: string) => string | undefined> = [
  (value) => (/^[\w./:@%+,-]+$/.test(value) ? value : undefined),
  (value) => quoted("'", value),
  (value) => quoted('"', value.replaceAll("\r", "\\r")),
  (value) => quoted("`", value),
  // Quotes cannot end with a backslash; a plain text can, where nothing in it has a meaning.
  (value) => (/^[^\s'"`#][^\r\n\u2028\u2029#]*$/.test(value) ? value : undefined)
]

// A backslash before the closing quote makes dotenv look for another one, further down.
const quoted = (quote: string, text: string) =>
  text.includes(quote) || text.endsWith("\\") ? undefined : quote + text + quote

/** Whether both of dotenv's parsers read this line as this pair. */
const readsBack = (line: string, { key, value }: Pair) =>
  [parse(line), parse(line, { fast: true })].every((found) => Object.hasOwn(found, key) && found[key] === value)

const spell = (pair: Pair): string | undefined => {
  for (const spelling of spellings) {
    const text = spelling(pair.value)
    if (text !== undefined && readsBack(`${pair.key}=${text}\n`, pair)) return `${pair.key}=${text}\n`
  }
  return undefined
}

const refusal = (pair: Pair) => {
  if (spell(pair) !== undefined) return undefined
  return pair.key === "__proto__"
    ? "is a key that dotenv does not read"
    : "has a value that no quotes of a .env file can hold"
}

/** Blank lines and comments. */
const nothing = /(?:\s+|#[^\n]*)*/y

/** One assignment, as dotenv takes it: a name, a value in quotes or else up to the end of the line, and a comment. */
const assignment =
  /(?:export[^\S\n]+)?([\w.-]+)(?:[^\S\n]*=[^\S\n]*|:[^\S\n]+)(?:('(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`)|([^#\n]*))[^\S\n]*(#[^\n]*)?(?=\n|$)/y

/** Why an assignment is not taken although dotenv reads something there. */
const doubt = ([whole, key = "", , text, comment]: RegExpExecArray): string | undefined => {
  if (text === undefined) return undefined
  if (/^['"`]/.test(text)) return `${key}: its quotes do not close at the end of the value`
  if (comment !== undefined && !/\s$/.test(whole.slice(0, -comment.length))) {
    return `${key}: a # right behind the text begins a comment for some readers and not for others; put the value in quotes`
  }
  return undefined
}

const read = (source: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  // What dotenv does first.
  const text = source.replace(/\r\n?/g, "\n")
  const lineAt = lineCounter(text)
  const entries: Array<Entry> = []
  for (let at = 0; ;) {
    nothing.lastIndex = at
    nothing.test(text)
    at = nothing.lastIndex
    if (at >= text.length) break
    const line = lineAt(at)
    const refuse = (problem: string) => Either.left(new Unreadable({ line, problem }))
    assignment.lastIndex = at
    const found = assignment.exec(text)
    if (found === null) return refuse("is not KEY=value")
    const [whole, key = ""] = found
    const problem = doubt(found)
    if (problem !== undefined) return refuse(problem)
    const own = parse(whole)
    const value = Object.hasOwn(own, key) ? own[key] : undefined
    if (value === undefined) return refuse(`${key}: dotenv does not read this; use json or yaml`)
    entries.push({ key, value, line })
    at += whole.length
  }
  // Quotes can reach further than their line: what dotenv makes of the whole file is what counts.
  const all = parse(text)
  const other = entries.find(({ key, value }) => {
    const same = entries.filter((entry) => entry.key === key)
    return same.length === 1 && all[key] !== value
  })
  return other === undefined
    ? Either.right(entries)
    : Either.left(new Unreadable({ line: other.line, problem: `${other.key}: its quotes can be read in two ways` }))
}

/** `.env` files, as npm's dotenv reads them. */
export const env: Format = { refusal, write: (pairs) => pairs.map((pair) => spell(pair) ?? "").join(""), read }
