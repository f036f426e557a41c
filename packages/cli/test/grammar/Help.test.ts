import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { commandHelp, groupHelp } from "../../src/grammar/Help.js"

const leaves = tree.nodes.flatMap((node) =>
  node.type === "command"
    ? [{ path: [node.name], leaf: node }]
    : node.commands.map((leaf) => ({ path: [node.name, leaf.name], leaf }))
)

const pages: ReadonlyArray<readonly [name: string, help: (width: number | undefined) => string]> = [
  ["coffer", (width) => groupHelp([], undefined, tree, width)],
  ...tree.nodes.flatMap((node) =>
    node.type === "group"
      ? [[`coffer ${node.name}`, (width: number | undefined) => groupHelp([node.name], node, tree, width)] as const]
      : []
  ),
  ...leaves.map(
    ({ leaf, path }) =>
      [`coffer ${path.join(" ")}`, (width: number | undefined) => commandHelp(path, leaf, width)] as const
  )
]

/** The words, without the backslashes of broken examples. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "" && word !== "\\")

describe.each(pages)("the help of %s", (_, help) => {
  it.each([60, 80])("fits %i columns and loses no word", (width) => {
    const text = help(width)
    for (const line of text.split("\n")) assert.isAtMost(line.length, width, line)
    assert.sameMembers(wordsOf(text), wordsOf(help(undefined)))
  })
})
