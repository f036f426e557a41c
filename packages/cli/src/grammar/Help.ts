import { definitions, fill, type Item, wrap } from "../terminal/Wrap.js"
import type { Group, Leaf } from "./Command.js"
import type { Tree } from "./Tree.js"
import { groupUsage, usageItems, usageLines } from "./Usage.js"

type Width = number | undefined

const margin = "  "

/** What is left of a width for the text of a section. */
const inside = (width: Width) => (width === undefined ? undefined : width - margin.length)

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => (line === "" ? "" : margin + line)), ""]

/** Lists have no lines if they are empty. */
const list = (items: ReadonlyArray<Item>, width: Width) => (items.length === 0 ? [] : definitions(items, width))

const quotedOrPlain = /(?:'[^']*'|"[^"]*"|[^\s'"])+/.source
const exampleParts = new RegExp(`--[a-z-]+ (?!-)${quotedOrPlain}|${quotedOrPlain}`, "g")

/** An example is broken between words, but not before the value of an option, as a shell takes it. */
const exampleLines = (example: string, width: Width): ReadonlyArray<string> =>
  fill(example.match(exampleParts) ?? [], width === undefined ? undefined : width - 6).map(
    (line, index, { length }) => (index === 0 ? "" : "    ") + line + (index < length - 1 ? " \\" : "")
  )

/** The help of a command. */
export const commandHelp = (path: ReadonlyArray<string>, leaf: Leaf, width: Width): string => {
  const room = inside(width)
  const items = usageItems(leaf)
  return [
    ...section("USAGE", usageLines(path, leaf, room)),
    ...section("DESCRIPTION", wrap(`${leaf.description}.`, room)),
    ...section(
      leaf.examples.length === 1 ? "EXAMPLE" : "EXAMPLES",
      leaf.examples.flatMap((example) => exampleLines(example, room))
    ),
    ...section("ARGUMENTS", list(items.arguments, room)),
    ...section("OPTIONS", list(items.options, room))
  ]
    .join("\n")
    .trimEnd()
}

const commandItem = (path: ReadonlyArray<string>, { description, name }: Group | Leaf): Item => ({
  name: [...path, name].join(" "),
  text: description
})

const itemsOf = (node: Group | Leaf): ReadonlyArray<Item> => {
  if (node.type === "command") return [commandItem([], node)]
  const own = [commandItem([], node), ...node.commands.map((leaf) => commandItem([node.name], leaf))]
  return node.alias === undefined ? own : [...own, { name: node.alias, text: `The same as ${node.name}` }]
}

/** The help of a group of commands, or of the client. */
export const groupHelp = (path: ReadonlyArray<string>, group: Group | undefined, tree: Tree, width: Width): string => {
  const room = inside(width)
  const usage = groupUsage(path)
  const items = group === undefined ? tree.nodes.flatMap(itemsOf) : group.commands.map((leaf) => commandItem([], leaf))
  return [
    ...section("USAGE", [usage]),
    ...section("DESCRIPTION", wrap((group ?? tree).description, room)),
    ...section("COMMANDS", list(items, room)),
    ...wrap(`${usage} --help says more about a command.`, width)
  ].join("\n")
}

/** Help with bold titles. */
export const withBoldTitles = (text: string): string => text.replace(/^[A-Z]+$/gm, "\x1b[1m$&\x1b[0m")
