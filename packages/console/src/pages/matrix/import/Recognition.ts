import { readJsonTrees } from "@coffer/domain/formats/tools/JsonTree"
import { toolOf } from "@coffer/domain/formats/tools/Recognition"
import type { ToolName } from "@coffer/domain/formats/tools/ToolNames"
import { isList, type Tree } from "@coffer/domain/formats/tools/Tree"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"

const treesOf = (text: string) =>
  /^\s*[[{]/.test(text)
    ? Effect.succeed(readJsonTrees(text))
    : Effect.map(
        Effect.promise(() => import("@coffer/domain/formats/tools/YamlTree")),
        ({ readYamlTrees }) => readYamlTrees(text)
      )

/** The tool of a document, or of the first in a list of them. */
const ownerOf = (tree: Tree): ToolName | undefined => {
  const [first] = isList(tree) ? tree.items : []
  return toolOf(tree) ?? (first === undefined ? undefined : toolOf(first))
}

/** The tool that prints a text, where its form shows that. */
export const recognise = (text: string): Effect.Effect<ToolName | undefined> =>
  Effect.map(treesOf(text), (trees) =>
    Either.isLeft(trees) || trees.right[0] === undefined ? undefined : ownerOf(trees.right[0])
  )
