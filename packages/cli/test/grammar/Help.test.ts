import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { commandHelp, groupHelp } from "../../src/grammar/HelpText.js"
import { shownNodes } from "../../src/grammar/Tree.js"

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
      [`coffer ${path.join(" ")}`, (width: number | undefined) => commandHelp(path, leaf, tree, width)] as const
  )
]

/** The words, without the backslashes of broken examples. */
const wordsOf = (text: string) => text.split(/\s+/).filter((word) => word !== "" && word !== "\\")

describe.each(pages)("the help of %s", (_, help) => {
  it.each([60, 80])("fits %i columns and loses no word", (width) => {
    const text = help(width)
    for (const line of text.split("\n")) assert.isAtMost(line.length, width, line)
    // Titles beside lines are broken between them.
    assert.sameMembers(wordsOf(text), wordsOf(help(undefined)))
  })
})

describe("the help of the client", () => {
  const lines = groupHelp([], undefined, tree, 80).split("\n")
  const besides = lines.map((line) => line.slice(14))

  it("fits one screen, with the prompt below it, in five groups of lines of at most 60 columns", () => {
    assert.isBelow(lines.length, 24)
    for (const line of besides) assert.isAtMost(line.length, 60, line)
    assert.lengthOf(tree.sections, 5)
    assert.deepStrictEqual(
      besides.slice(1, 4).map((line) => line.split("  ")[0]),
      ["coffer init", "coffer set API_KEY", "coffer run npm start"]
    )
  })

  it("names each noun once", () => {
    const named = besides.slice(5).flatMap((line) => (line.split("  ")[0] ?? "").split(", "))
    const nouns = new Set(shownNodes(tree.nodes).map(({ name }) => name.split(" ")[0]))
    assert.deepStrictEqual(named, [...nouns])
  })

  it("leaves what stands under a noun to the noun's help", () => {
    const declare = leaves.find(({ path }) => path.join(" ") === "declare")
    assert(declare !== undefined)
    const help = commandHelp(declare.path, declare.leaf, tree, 80)
    assert.match(help, /\nCOMMANDS\n {2}declare list .*\n {2}declare rm /)
  })
})
