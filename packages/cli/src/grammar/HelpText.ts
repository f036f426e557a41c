import { definitions, fill, type Item, wrap } from "../terminal/Wrap.js"
import type { Group, Leaf } from "./Command.js"
import { namesOf, type Row, shownNodes, type Tree } from "./Tree.js"
import { groupUsage, usageItems, usageLines } from "./Usage.js"

type Width = number | undefined

const margin = "  "

/** The width that is left for the text of a section. */
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

const commandItem = ({ description, name }: Group | Leaf): Item => ({ name, text: description })

/** The commands whose names begin with that of another one, such as `declare list`. */
const commandsBelow = (path: ReadonlyArray<string>, tree: Tree): ReadonlyArray<Item> => {
  const [name = "", ...rest] = path
  const group = tree.nodes.find((node) => node.type === "group" && namesOf(node).includes(name))
  const nodes = group?.type === "group" ? group.commands : tree.nodes
  const prefix = `${(group === undefined ? path : rest).join(" ")} `
  return shownNodes(nodes)
    .filter((node) => node.name.startsWith(prefix))
    .map((node) => commandItem(node))
}

const sameAs = ({ alias }: Group | Leaf): string => (alias === undefined ? "" : `; coffer ${alias} is the same`)

/** The help of a command. */
export const commandHelp = (path: ReadonlyArray<string>, leaf: Leaf, tree: Tree, width: Width): string => {
  const room = inside(width)
  const items = usageItems(leaf)
  return [
    ...section("USAGE", usageLines(path, leaf, room)),
    ...section("DESCRIPTION", wrap(`${leaf.description}${sameAs(leaf)}.`, room)),
    ...section(
      leaf.examples.length === 1 ? "EXAMPLE" : "EXAMPLES",
      leaf.examples.flatMap((example) => exampleLines(example, room))
    ),
    ...section("ARGUMENTS", list(items.arguments, room)),
    ...section("OPTIONS", list(items.options, room)),
    ...section("COMMON OPTIONS", list(items.common, room)),
    ...section("COMMANDS", list(commandsBelow(path, tree), room))
  ]
    .join("\n")
    .trimEnd()
}

/** The columns of a section's title, and of a line beside it. */
const titleWidth = 12
const lineWidth = 60

const titleLines = (title: string) => title.match(new RegExp(`\\S.{0,${titleWidth - 1}}(?= |$)`, "g")) ?? []

const namesIn = ({ nodes }: Row): string => [...new Set(nodes.map(({ name }) => name.split(" ")[0] ?? name))].join(", ")

/** The help of the client: one screen of 24 lines, if the terminal has 80 columns. What stands under a noun is in its own help. */
const clientHelp = ({ begin, sections }: Tree, width: Width): string => {
  const usage = `${groupUsage([])}; to learn more: ${groupUsage([])} --help`
  const lists = [
    { title: "BEGIN", items: begin },
    ...sections.map(({ rows, title }) => ({
      title,
      items: rows.map((row) => ({ name: namesIn(row), text: row.text }))
    }))
  ]
  if (width !== undefined && width < titleWidth + margin.length + lineWidth) {
    const room = inside(width)
    return [
      ...section("USAGE", wrap(usage, room)),
      ...lists.flatMap(({ items, title }) => section(title, definitions(items, room)))
    ]
      .join("\n")
      .trimEnd()
  }
  const column = Math.max(...lists.flatMap(({ items }) => items.map(({ name }) => name.length)))
  const beside = (title: string | undefined, line: string) => (title ?? "").padEnd(titleWidth) + margin + line
  return [
    beside("USAGE", usage),
    ...lists.flatMap(({ items, title }, list) => {
      const titles = titleLines(title)
      const lines = items.map(({ name, text }, index) => beside(titles[index], `${name.padEnd(column)}  ${text}`))
      return list === 0 ? [...lines, ""] : lines
    })
  ].join("\n")
}

/** The help of a group of commands, or of the client. */
export const groupHelp = (path: ReadonlyArray<string>, group: Group | undefined, tree: Tree, width: Width): string => {
  if (group === undefined) return clientHelp(tree, width)
  const room = inside(width)
  const usage = groupUsage(path)
  return [
    ...section("USAGE", [usage]),
    ...section("DESCRIPTION", wrap(group.description + sameAs(group), room)),
    ...section("COMMANDS", list(shownNodes(group.commands).map(commandItem), room)),
    ...wrap(`${usage} --help says more about a command.`, width)
  ].join("\n")
}

/** Help with bold titles. */
export const withBoldTitles = (text: string): string =>
  text.replace(/^[A-Z]+(?: [A-Z]+)*(?=$| {2})/gm, "\x1b[1m$&\x1b[0m")
