import * as Array from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from "yaml"
import { Findings, type Mistake } from "../Format.js"
import { checkSize } from "../Yaml.js"
import { yamlProblem } from "../YamlProblem.js"
import { maxDepth, type Member, type Tree } from "./Tree.js"

/** Deeply nested text can fill the stack of V8. */
const parse = Option.liftThrowable((text: string, lineCounter: LineCounter) => [
  ...parseAllDocuments(text, { lineCounter, prettyErrors: false, uniqueKeys: false })
])

const scalarTypes: Readonly<Record<string, "number" | "boolean">> = {
  number: "number",
  bigint: "number",
  boolean: "boolean"
}

/** The first mistake ends the reading. */
type Reading = Either.Either<Tree, Mistake>

const treeOf = (node: unknown, line: number, lineAt: (node: Node) => number, depth: number): Reading => {
  const refuse = (problem: string) => Either.left({ line, problem })
  if (depth > maxDepth) return refuse(`is nested deeper than ${maxDepth} levels`)
  if (node === null) return Either.right({ type: "null", line, text: "null" })
  if (isAlias(node)) return refuse("is an alias of another place: write its value out")
  if (isScalar(node)) {
    const { source, value } = node
    if (typeof value === "string") return Either.right({ type: "text", line, text: value })
    const type = scalarTypes[typeof value]
    if (value !== null && type === undefined)
      return refuse("has a value that is neither text, number, boolean nor null")
    return Either.right({ type: type ?? "null", line, text: type === undefined ? "null" : (source ?? "") })
  }
  const below = (item: unknown) =>
    treeOf(item, isScalar(item) || isMap(item) || isSeq(item) ? lineAt(item) : line, lineAt, depth + 1)
  if (isSeq(node)) {
    return Either.map(Either.all(node.items.map(below)), (items): Tree => ({ type: "list", line, items }))
  }
  if (!isMap(node)) return refuse("is neither a value, a list nor a map")
  const members = node.items.map((pair): Either.Either<Member, Mistake> => {
    if (!isPair(pair) || !isScalar(pair.key)) return refuse("has a key that is not a text")
    const { key: name, value } = pair
    const own = lineAt(name)
    const key = typeof name.value === "string" ? name.value : (name.source ?? "")
    if (key === "<<") return Either.left({ line: own, problem: "merges another place: write its keys out" })
    return Either.map(
      treeOf(value, isScalar(value) ? own : isMap(value) || isSeq(value) ? lineAt(value) : own, lineAt, depth + 1),
      (tree) => ({ key, line: own, value: tree })
    )
  })
  return Either.map(Either.all(members), (all): Tree => ({ type: "map", line, members: all }))
}

/** Reads the documents of a YAML text. */
export const readYamlTrees = (text: string): Either.Either<ReadonlyArray<Tree>, Mistake> => {
  const found = new Findings()
  checkSize(text, found, Infinity)
  const size = Either.flip(found.result)
  if (Either.isRight(size)) return Either.left(Array.headNonEmpty(size.right.mistakes))
  const lines = new LineCounter()
  const lineAt = ({ range }: Node) => lines.linePos(range?.[0] ?? 0).line
  const documents = Option.getOrUndefined(parse(text, lines))
  if (documents === undefined) return Either.left({ line: 1, problem: `is nested deeper than ${maxDepth} levels` })
  const trees: Array<Tree> = []
  for (const { contents, errors } of documents) {
    const [error] = errors
    if (error !== undefined) {
      return Either.left({
        line: lines.linePos(error.pos[0]).line,
        problem: `is not valid YAML: ${yamlProblem(error)}`
      })
    }
    if (contents === null || (isScalar(contents) && contents.value === null)) continue
    const tree = treeOf(contents, lineAt(contents), lineAt, 1)
    if (Either.isLeft(tree)) return Either.left(tree.left)
    trees.push(tree.right)
  }
  return Either.right(trees)
}
