import type { Group, Leaf } from "./Command.js"
import { commandLine } from "./Complaints.js"
import type { ArgumentData, OptionData } from "./Data.js"
import type { Tree } from "./Tree.js"

interface Item {
  readonly name: string
  readonly text: string
}

const columns = (items: ReadonlyArray<Item>) => {
  const width = Math.max(...items.map(({ name }) => name.length))
  return items.map(({ name, text }) => `${name.padEnd(width)}  ${text}`.trimEnd())
}

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => (line === "" ? "" : `  ${line}`)), ""]

const valueOf = ({ choices, value }: OptionData) => choices?.join(" | ") ?? value

const optionText = (option: OptionData) => {
  const value = valueOf(option)
  if (value === undefined) return `--${option.name}`
  if (option.isValueOptional !== true) return `--${option.name} ${value}`
  return option.isValueNext === true ? `--${option.name} [${value}]` : `--${option.name}[=${value}]`
}

const repeated = (text: string, isRepeated: boolean) => (isRepeated ? `${text}...` : text)

const optionUsage = (option: OptionData) =>
  repeated(option.isRequired === true ? optionText(option) : `[${optionText(option)}]`, option.isRepeatable === true)

const argumentUsage = ({ least, most, name }: ArgumentData) =>
  repeated(least === 0 ? `[<${name}>]` : `<${name}>`, most > 1)

const argumentItem = ({ choices, description, name }: ArgumentData): Item => ({
  name: choices === undefined ? `<${name}>` : `<${name}> ${choices.join(" | ")}`,
  text: description
})

const optionItem = (option: OptionData): Item => ({ name: optionText(option), text: option.description })

/** The help of a command. */
export const commandHelp = (path: ReadonlyArray<string>, leaf: Leaf): string => {
  const usage = [commandLine(path), ...leaf.options.map(optionUsage), ...leaf.arguments.map(argumentUsage)]
  return [
    ...section("USAGE", [usage.join(" ")]),
    ...section("DESCRIPTION", [`${leaf.description}.`]),
    ...section(leaf.examples.length === 1 ? "EXAMPLE" : "EXAMPLES", leaf.examples),
    ...section("ARGUMENTS", columns(leaf.arguments.map(argumentItem))),
    ...section("OPTIONS", columns(leaf.options.map(optionItem)))
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
export const groupHelp = (path: ReadonlyArray<string>, group: Group | undefined, tree: Tree): string => {
  const usage = `${commandLine(path)} COMMAND`
  const items = group === undefined ? tree.nodes.flatMap(itemsOf) : group.commands.map((leaf) => commandItem([], leaf))
  return [
    ...section("USAGE", [usage]),
    ...section("DESCRIPTION", [(group ?? tree).description]),
    ...section("COMMANDS", columns(items)),
    `${usage} --help says more about a command.`
  ].join("\n")
}

/** Help with bold titles. */
export const withBoldTitles = (text: string): string => text.replace(/^[A-Z]+$/gm, "\x1b[1m$&\x1b[0m")
