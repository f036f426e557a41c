import { maxSecretValueBytes } from "../secrets/SecretValueForm.js"
import { maxKeys } from "../secrets/SecretValues.js"
import * as Either from "effect/Either"
import { isMap, isScalar, Lexer, LineCounter, parseAllDocuments, parseDocument } from "yaml"
import { type Entry, Findings, type Format, type Pair, toolHint, type Unreadable } from "./Format.js"
import { Scanner } from "./Scanner.js"
import { yamlProblem } from "./YamlProblem.js"
import { quoteForYaml } from "./YamlText.js"

/** Words that YAML 1.1 readers take for booleans or null. */
const word = /^(y|yes|n|no|true|false|on|off|null)$/i

const write = (pairs: ReadonlyArray<Pair>) =>
  pairs.length === 0
    ? "{}\n"
    : pairs.map(({ key, value }) => `${word.test(key) ? quoteForYaml(key) : key}: ${quoteForYaml(value)}\n`).join("")

/** Whether readers of YAML 1.1 and 1.2 both take this for a string. */
const isText = (source: string) =>
  (["1.1", "1.2"] as const).every((version) => typeof parseDocument(source, { version }).toJS() === "string")

/** The longest spelling of a value that can be stored, with room for escapes. */
const maxScalar = 10 * maxSecretValueBytes

/** The most tokens of a file: each secret takes about six, and a line of comments two. */
const maxTokens = 100 * maxKeys

/** Tokens that the lexer adds: they stand for no text. */
const markers = new Set(["\x02", "\x18", "\x1f"])

/**
 * Looks for what makes a file too large, without parsing it. The lexer is fast and can be stopped; the parser holds all of
 * the file as objects, and some of its work is quadratic in the number of tokens.
 */
export const checkSize = (text: string, found: Findings, maxPairs = maxKeys): void => {
  const lines = new Scanner(text)
  let offset = 0
  let tokens = 0
  let pairs = 0
  for (const token of new Lexer().lex(text)) {
    if (token === ":" && ++pairs > maxPairs) return found.tooMany(lines.lineAt(offset))
    if (token.length > maxScalar || ++tokens > maxTokens) {
      const problem = token.length > maxScalar ? "is longer than any value" : "comes after too many comments or lines"
      return found.stop(lines.lineAt(offset), `${problem}; is it the right file?`)
    }
    if (!markers.has(token)) offset += token.length
  }
}

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const found = new Findings()
  checkSize(text, found)
  if (found.isStopped()) return found.result
  const lines = new LineCounter()
  const lineAt = (offset: number) => lines.linePos(offset).line
  const stop = (offset: number, problem: string) => {
    found.stop(lineAt(offset), problem)
    return found.result
  }
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [document, second] = [...documents]
  if (document === undefined) return Either.right([])
  if (document.errors.length > 0) {
    // The first error of a line may cause the others.
    const errors = new Map([...document.errors].reverse().map((error) => [lineAt(error.pos[0]), error]))
    for (const [line, error] of [...errors].reverse()) found.refuse(line, `is not valid YAML: ${yamlProblem(error)}`)
    return found.result
  }
  if (second !== undefined) return stop(second.range[0], "begins a second document, and only one is read")
  const root = document.contents
  if (root === null || (isScalar(root) && root.value === null && root.source === "")) return Either.right([])
  if (!isMap(root)) return stop(root.range[0], 'is not the start of lines such as KEY: "value"')
  for (const { key, value } of root.items) {
    if (found.isStopped()) break
    const line = lineAt(isScalar(key) ? key.range[0] : root.range[0])
    if (!isScalar(key)) found.refuse(line, "has a key that is not a text")
    else if (!isScalar(value) || typeof value.value !== "string") {
      const hint = isScalar(value) ? `; ${toolHint}` : ""
      found.refuse(line, `${key.source} must have a text as its value; write it in quotes${hint}`)
    } else if (value.type === "PLAIN" && value.tag === undefined && !isText(value.value)) {
      found.refuse(line, `${key.source}: not every reader of YAML takes this value for a text; write it in quotes`)
    } else found.add({ key: key.source, value: value.value, line })
  }
  return found.result
}

/** YAML that means the same in versions 1.1 and 1.2. */
export const yaml: Format = { refusal: () => undefined, write, read }
