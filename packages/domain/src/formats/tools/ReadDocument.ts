import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { BadFile, type Mistake } from "../Format.js"
import { type FoundPlace, Places } from "./Places.js"
import { findEncrypted, toolOf } from "./Recognition.js"
import { readDefaults, type ReadOptions, type Syntax, type Tool } from "./Tool.js"
import type { ToolName } from "./ToolNames.js"
import { tools } from "./Tools.js"
import { isList, type Tree } from "./Tree.js"

/** What a document of a tool holds. */
export interface ToolDocument {
  readonly tool: ToolName
  readonly places: ReadonlyArray<FoundPlace>
}

type Trees = Either.Either<ReadonlyArray<Tree>, Array.NonEmptyReadonlyArray<Mistake>>

const looksLikeEnv = (text: string) => /^(?:\s*(?:#[^\n]*)?\n)*\s*(?:export\s+)?[\w.-]+\s*=/.test(text)

const syntaxOf = (text: string, { syntaxes }: Tool): Syntax | undefined => {
  if (/^\s*[[{]/.test(text)) return "json"
  const others = syntaxes.filter((syntax) => syntax !== "json")
  return others.find((syntax) => (syntax === "env") === looksLikeEnv(text))
}

/** The lines of a `.env` file, as a map. */
const readEnv = Effect.fnUntraced(function* (text: string): Effect.fn.Return<Trees> {
  const { env } = yield* Effect.promise(() => import("../Env.js"))
  return Either.mapBoth(env.read(text), {
    onLeft: ({ mistakes }) => mistakes,
    onRight: (entries) =>
      entries.length === 0
        ? []
        : [
            {
              type: "map",
              line: 1,
              members: entries.map(({ key, line, value }) => ({
                key,
                line,
                value: { type: "text", line, text: value }
              }))
            }
          ]
  })
})

/** Loads the parser of a syntax when it is needed: those of YAML and `.env` are large. */
const readTrees = Effect.fnUntraced(function* (text: string, tool: Tool): Effect.fn.Return<Trees> {
  switch (syntaxOf(text, tool)) {
    case "json": {
      const { readJsonTrees } = yield* Effect.promise(() => import("./JsonTree.js"))
      return Either.mapLeft(readJsonTrees(text), Array.of)
    }
    case "yaml": {
      const { readYamlTrees } = yield* Effect.promise(() => import("./YamlTree.js"))
      return Either.mapLeft(readYamlTrees(text), Array.of)
    }
    case "env":
      return yield* readEnv(text)
    case undefined:
      return text.trim() === "" ? Either.right([]) : Either.left([notOf(1, tool)])
  }
})

const notOf = (line: number, { prints }: Tool): Mistake => ({ line, problem: `is not what ${prints} prints` })

/** What is wrong with a document before it is read. */
const problemOf = (tree: Tree, tool: Tool): Mistake | undefined => {
  const { line } = tree
  const owner = toolOf(tree)
  if (owner !== undefined && owner !== tool.name) {
    return {
      line,
      problem: `is what ${tools[owner].prints} prints, and not of ${tool.name}: use coffer import ${owner}`
    }
  }
  const names = tool.namesOnly?.(tree)
  return names === undefined ? findEncrypted(tree) : { line, problem: names }
}

/** The documents in a list of them, as `jq -s` makes one. A list of Infisical is a document. */
const documentsIn = (tree: Tree, tool: Tool): ReadonlyArray<Tree> =>
  isList(tree) && tool.name !== "infisical" && toolOf(tree) === undefined && tool.namesOnly?.(tree) === undefined
    ? tree.items
    : [tree]

/**
 * Reads documents that a tool printed, also several one after another. Fails with the first thing that makes them unreadable: no
 * message holds a value.
 *
 * @param file how messages name the document.
 */
export const readDocument = Effect.fnUntraced(function* (
  name: ToolName,
  file: string,
  text: Redacted.Redacted,
  options: Partial<ReadOptions> = {}
): Effect.fn.Return<ToolDocument, BadFile> {
  const tool = tools[name]
  const fail = (...mistakes: Array.NonEmptyArray<Mistake>) => new BadFile({ file, mistakes })
  const trees = yield* readTrees(Redacted.value(text), tool)
  if (Either.isLeft(trees)) return yield* fail(...trees.left)
  const places = new Places()
  for (const tree of trees.right.flatMap((each) => documentsIn(each, tool))) {
    const problem = problemOf(tree, tool)
    if (problem !== undefined) return yield* fail(problem)
    const isOf = tool.read(tree, places, { ...readDefaults, ...options })
    if (places.stopped !== undefined) return yield* fail(places.stopped)
    if (!isOf) return yield* fail(notOf(tree.line, tool))
  }
  if (trees.right.length === 0) return yield* fail({ line: 1, problem: "is empty" })
  return { tool: name, places: places.all }
})
