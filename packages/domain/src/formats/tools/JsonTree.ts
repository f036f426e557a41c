import * as Either from "effect/Either"
import type { Mistake } from "../Format.js"
import { takeText } from "../Json.js"
import { Scanner } from "../Scanner.js"
import { type Dictionary, type List, maxDepth, type Member, type Scalar, type Tree } from "./Tree.js"

const space = /[ \t\r\n]*/y
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const word = /true|false|null/y

const isProblem = (found: Tree | string): found is string => typeof found === "string"

/** A recursive descent. It keeps lines, equal keys and the spelling of numbers, which V8's parser loses. */
class Parser {
  private readonly scanner: Scanner

  constructor(private readonly text: string) {
    this.scanner = new Scanner(text)
  }

  /** The line of the current position. */
  get line(): number {
    return this.scanner.lineAt(this.scanner.at)
  }

  get done(): boolean {
    this.scanner.skip(space)
    return this.scanner.done
  }

  private peek(): string | undefined {
    this.scanner.skip(space)
    return this.text[this.scanner.at]
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false
    this.scanner.at++
    return true
  }

  private expected(what: string): string {
    return this.done ? "the document ends here: it was cut off" : `is not valid JSON: expected ${what}`
  }

  /** Takes a value; or says what is wrong at the current position. */
  value(depth: number): Tree | string {
    if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`
    const next = this.peek()
    const line = this.line
    if (next === "{") return this.map(line, depth)
    if (next === "[") return this.list(line, depth)
    if (next === '"') return this.string(line)
    const [digits] = this.scanner.take(number) ?? []
    if (digits !== undefined) return { type: "number", line, text: digits }
    const [text] = this.scanner.take(word) ?? []
    return text === undefined ? this.expected("a value") : { type: text === "null" ? "null" : "boolean", line, text }
  }

  private string(line: number): Scalar | string {
    const text = takeText(this.scanner)
    return text === undefined
      ? "is a text without an end, with a bad escape, or longer than any value"
      : { type: "text", line, text }
  }

  private map(line: number, depth: number): Dictionary | string {
    const members: Array<Member> = []
    this.take("{")
    if (this.take("}")) return { type: "map", line, members }
    do {
      if (this.peek() !== '"') return this.expected("a key in double quotes")
      const own = this.line
      const key = this.string(own)
      if (isProblem(key)) return key
      if (!this.take(":")) return this.expected("a colon")
      const value = this.value(depth + 1)
      if (isProblem(value)) return value
      members.push({ key: key.text, line: own, value })
    } while (this.take(","))
    return this.take("}") ? { type: "map", line, members } : this.expected("a comma or the closing brace")
  }

  private list(line: number, depth: number): List | string {
    const items: Array<Tree> = []
    this.take("[")
    if (this.take("]")) return { type: "list", line, items }
    do {
      const item = this.value(depth + 1)
      if (isProblem(item)) return item
      items.push(item)
    } while (this.take(","))
    return this.take("]") ? { type: "list", line, items } : this.expected("a comma or the closing bracket")
  }
}

/** Reads JSON documents, one after another, as `jq` prints and reads them. */
export const readJsonTrees = (text: string): Either.Either<ReadonlyArray<Tree>, Mistake> => {
  const parser = new Parser(text)
  const trees: Array<Tree> = []
  while (!parser.done) {
    const tree = parser.value(1)
    if (isProblem(tree)) return Either.left({ line: parser.line, problem: tree })
    trees.push(tree)
  }
  return Either.right(trees)
}
