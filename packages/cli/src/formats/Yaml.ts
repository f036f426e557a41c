import { Either } from "effect"
import { isMap, isScalar, LineCounter, parseAllDocuments, parseDocument } from "yaml"
import { type Entry, type Format, type Pair, Unreadable } from "./Format.js"

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * A text in double quotes. Beyond what JSON escapes: line ends that only YAML 1.1 knows, and what YAML calls not
 * printable, which readers refuse. (The library's own writer leaves them as they are.)
 */
const quote = (text: string) => JSON.stringify(text).replace(/[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g, escaped)

/** Words that readers of YAML 1.1 take for truth values. */
const word = /^(y|yes|n|no|true|false|on|off|null)$/i

const write = (pairs: ReadonlyArray<Pair>) =>
  pairs.length === 0
    ? "{}\n"
    : pairs.map(({ key, value }) => `${word.test(key) ? quote(key) : key}: ${quote(value)}\n`).join("")

/** Whether readers of YAML 1.1 and of 1.2 alike take this for a text. */
const isText = (source: string) =>
  (["1.1", "1.2"] as const).every((version) => typeof parseDocument(source, { version }).toJS() === "string")

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const lines = new LineCounter()
  const refuse = (offset: number, problem: string) =>
    Either.left(new Unreadable({ line: lines.linePos(offset).line, problem }))
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [document, second] = [...documents]
  if (document === undefined) return Either.right([])
  // The library's own words may quote the file.
  const [error] = document.errors
  if (error !== undefined) return refuse(error.pos[0], `is not valid YAML (${error.code.toLowerCase()})`)
  if (second !== undefined) return refuse(second.range[0], "begins a second document, and only one is read")
  const root = document.contents
  if (root === null || (isScalar(root) && root.value === null && root.source === "")) return Either.right([])
  if (!isMap(root)) return refuse(root.range[0], 'is not the start of lines such as KEY: "value"')
  const entries: Array<Entry> = []
  for (const { key, value } of root.items) {
    const offset = isScalar(key) ? key.range[0] : root.range[0]
    if (!isScalar(key)) return refuse(offset, "has a key that is not a text")
    if (!isScalar(value) || typeof value.value !== "string") {
      return refuse(offset, `${key.source} must have a text as its value; write it in quotes`)
    }
    if (value.type === "PLAIN" && value.tag === undefined && !isText(value.value)) {
      return refuse(offset, `${key.source}: not every reader of YAML takes this value for a text; write it in quotes`)
    }
    entries.push({ key: key.source, value: value.value, line: lines.linePos(offset).line })
  }
  return Either.right(entries)
}

/** YAML that readers of 1.1 and of 1.2 read alike. */
export const yaml: Format = { refusal: () => undefined, write, read }
