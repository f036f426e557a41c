import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { notesOfEntry } from "../EnvNotes.js"
import { BadFile, type Mistake } from "../Format.js"
import { type FoundPlace, Places } from "./Places.js"
import { findEncrypted, toolOf } from "./Recognition.js"
import { readDefaults, type ReadOptions, type Syntax, type Tool } from "./Tool.js"
import type { ToolName } from "./ToolNames.js"
import { tools } from "./Tools.js"
import { isList, isMap, type Tree } from "./Tree.js"

/** The content of a tool's document. */
export interface ToolDocument {
  readonly tool: ToolName
  readonly places: ReadonlyArray<FoundPlace>
}

type Trees = Either.Either<ReadonlyArray<Tree>, Array.NonEmptyReadonlyArray<Mistake>>

const looksLikeEnv = (text: string) => /^(?:\s*(?:#[^\n]*)?\n)*\s*(?:export\s+)?[\w.-]+\s*=/.test(text)

/** Forms that tools also print, and that coffer does not read. */
const otherForms: ReadonlyArray<readonly [form: string, pattern: RegExp]> = [
  ["CSV", /^\s*"?key"?,"?value"?\s*$/im],
  ["INI", /^\s*(?:[#;][^\n]*\n\s*)*\[[^\]\n"{}]*\]\s*(?:\n\s*[^\s=]+\s*=|\n\s*\[|$)/],
  ["XML", /^\s*<[?\w]/],
  ["TOML or HCL", /^\s*(?:variable\s+"|[\w.-]+\s+=\s+")/]
]

const otherFormOf = (text: string): string | undefined =>
  otherForms.find(([, pattern]) => pattern.test(text.slice(0, 10_000)))?.[0]

const syntaxOf = (text: string, { syntaxes }: Tool): Syntax | undefined => {
  if (/^\s*[[{]/.test(text)) return "json"
  const others = syntaxes.filter((syntax) => syntax !== "json")
  return others.find((syntax) => (syntax === "env") === looksLikeEnv(text))
}

/** The reader of npm's dotenv, which is large: loaded when it is needed. */
const dotenv = Effect.promise(async () => (await import("../Env.js")).env.read)

/** The lines of a `.env` file, as a map. */
const readEnv = Effect.fnUntraced(function* (text: string, tool: Tool): Effect.fn.Return<Trees> {
  const read = tool.readEnv ?? (yield* dotenv)
  return Either.mapBoth(read(text), {
    onLeft: ({ mistakes }) => mistakes,
    onRight: (entries) =>
      entries.length === 0
        ? []
        : [
            {
              type: "map",
              line: 1,
              members: entries.map((entry) => ({
                key: entry.key,
                line: entry.line,
                value: { type: "text", line: entry.line, text: entry.value, notes: notesOfEntry(entry) }
              }))
            }
          ]
  })
})

/** Adds what a person may not expect of the values in a map. */
const withNotes = (tree: Tree, notesOf: (value: string) => ReadonlyArray<string>): Tree =>
  isMap(tree)
    ? {
        ...tree,
        members: tree.members.map((member) => ({
          ...member,
          value: member.value.type === "text" ? { ...member.value, notes: notesOf(member.value.text) } : member.value
        }))
      }
    : tree

/** Loads the parser of a syntax when it is needed: that of YAML is large. */
const readTrees = Effect.fnUntraced(function* (text: string, tool: Tool): Effect.fn.Return<Trees> {
  const form = otherFormOf(text)
  if (form !== undefined) return Either.left([otherForm(form, tool)])
  switch (syntaxOf(text, tool)) {
    case "json": {
      const { readJsonTrees } = yield* Effect.promise(() => import("./JsonTree.js"))
      return Either.mapLeft(readJsonTrees(text), Array.of)
    }
    case "yaml": {
      const { readYamlTrees } = yield* Effect.promise(() => import("./YamlTree.js"))
      const { yamlNotes } = tool
      const read = Either.mapLeft(readYamlTrees(text), Array.of)
      return yamlNotes === undefined
        ? read
        : Either.map(read, (trees) => trees.map((tree) => withNotes(tree, yamlNotes)))
    }
    case "env":
      return yield* readEnv(text, tool)
    case undefined:
      return text.trim() === "" ? Either.right([]) : Either.left([notOf(1, tool)])
  }
})

const notOf = (line: number, { prints }: Tool): Mistake => ({ line, problem: `is not what ${prints} prints` })

const otherForm = (form: string, { prints, printsJson = prints }: Tool): Mistake => ({
  line: 1,
  problem: `is ${form}, which coffer does not read: import what ${printsJson} prints`
})

/** Checks a document before it is read. Returns its mistake, or undefined. */
const problemOf = (tree: Tree, tool: Tool): Mistake | undefined => {
  const { line } = tree
  const owner = toolOf(tree)
  if (owner !== undefined && owner !== tool.name) {
    return {
      line,
      problem: `is what ${tools[owner].prints} prints, and not of ${tool.name}: use coffer import ${owner}`
    }
  }
  const incomplete = tool.incomplete?.(tree)
  return incomplete === undefined ? findEncrypted(tree) : { line, problem: incomplete }
}

/** The documents in a list of them, as `jq -s` makes one. A list of Infisical is a document. */
const documentsIn = (tree: Tree, tool: Tool): ReadonlyArray<Tree> =>
  isList(tree) && tool.name !== "infisical" && toolOf(tree) === undefined && tool.incomplete?.(tree) === undefined
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
