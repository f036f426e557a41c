import * as Array from "effect/Array"
import type { Group, Leaf } from "./Command.js"
import type { Item } from "../terminal/Wrap.js"
import { destroysWithout } from "./Data.js"
import { isHelp, nearest } from "./Words.js"

/** A line of the client's help: related nouns and commands. */
export interface Row {
  readonly text: string
  readonly nodes: Array.NonEmptyReadonlyArray<Group | Leaf>
}

interface Section {
  readonly title: string
  readonly rows: Array.NonEmptyReadonlyArray<Row>
}

interface Overview {
  readonly description: string
  /** The commands of the first minute. */
  readonly begin: ReadonlyArray<Item>
  readonly sections: Array.NonEmptyReadonlyArray<Section>
  /** Old commands: they work as ever, and no help and no completion shows them. */
  readonly old: ReadonlyArray<Group | Leaf>
}

/** The client: its commands and groups of commands. */
export interface Tree extends Overview {
  readonly nodes: Array.NonEmptyReadonlyArray<Group | Leaf>
}

/** The client with these sections. */
export const treeOf = (overview: Overview): Tree => ({
  ...overview,
  nodes: Array.appendAll(
    Array.flatMap(overview.sections, ({ rows }) => Array.flatMap(rows, ({ nodes }) => nodes)),
    overview.old.map((node) => ({ ...node, isOld: true }))
  )
})

/** The commands that help and completions show. */
export const shownNodes = <Node extends Group | Leaf>(nodes: ReadonlyArray<Node>): ReadonlyArray<Node> =>
  nodes.filter(({ isOld }) => isOld !== true)

/** The result of looking up a command line in the tree. */
export type Found =
  | {
      readonly type: "command"
      readonly path: ReadonlyArray<string>
      readonly group: Group | undefined
      readonly leaf: Leaf
      readonly words: ReadonlyArray<string>
      readonly help: boolean
    }
  | {
      readonly type: "group"
      readonly path: ReadonlyArray<string>
      readonly group: Group | undefined
      readonly help: boolean
    }
  | { readonly type: "missing"; readonly path: ReadonlyArray<string>; readonly group: Group | undefined }
  | { readonly type: "unknown"; readonly path: ReadonlyArray<string>; readonly word: string }

const beforeDashes = (argv: ReadonlyArray<string>) => {
  const dashes = argv.indexOf("--")
  return dashes < 0 ? argv : argv.slice(0, dashes)
}

export const namesOf = (node: Group | Leaf): ReadonlyArray<string> =>
  node.alias === undefined ? [node.name] : [node.name, node.alias]

/** A command line that ends before the name of a command, or goes on with a word that is none. */
const withoutCommand = (
  path: ReadonlyArray<string>,
  group: Group | undefined,
  words: ReadonlyArray<string>,
  help: boolean
): Found => {
  const [word] = words.filter((each) => each !== "--")
  const asksForHelp = help || beforeDashes(words).some(isHelp)
  if (asksForHelp && (word === undefined || word.startsWith("-"))) return { type: "group", path, group, help: true }
  return word === undefined ? { type: "missing", path, group } : { type: "unknown", path, word }
}

/** The words after those that ask for help, and whether there are any such. */
const afterHelp = (words: ReadonlyArray<string>, asks: (word: string) => boolean) => {
  const first = words.findIndex((word) => !asks(word))
  return { isAsked: first !== 0 && words.length > 0, rest: first < 0 ? [] : words.slice(first) }
}

/** Finds the command of a command line. `help`, `--help` and `-h` can stand before each of its names. */
export const locate = (tree: Tree, argv: ReadonlyArray<string>): Found => {
  const path: Array<string> = []
  let nodes: ReadonlyArray<Group | Leaf> = tree.nodes
  let group: Group | undefined
  let help = false
  let words = argv
  for (;;) {
    const { isAsked, rest: named } = afterHelp(words, (word) => word === "help" || isHelp(word))
    help ||= isAsked
    const [name, ...rest] = named
    // The name of a command may have two words, such as `trust list` beside `trust`.
    const second = afterHelp(rest, isHelp)
    const longer = nodes.find((each) => each.name === `${name} ${second.rest[0]}`)
    const node = longer ?? nodes.find((each) => name !== undefined && namesOf(each).includes(name))
    if (node === undefined || name === undefined) return withoutCommand(path, group, named, help)
    if (longer !== undefined) help ||= second.isAsked
    path.push(longer === undefined ? name : longer.name)
    words = longer === undefined ? rest : second.rest.slice(1)
    if (node.type === "command") return { type: "command", path, group, leaf: node, words, help }
    group = node
    nodes = node.commands
  }
}

/** The names of these commands in other tools. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["ls", "list"],
  ["rm", "delete"],
  ["remove", "delete"],
  ["undelete", "restore"],
  ["recover", "restore"],
  ["undo", "restore"],
  ["mv", "rename"],
  ["cp", "copy"],
  ["read", "get"],
  ["write", "set"],
  ["history", "versions"],
  ["upload", "import"],
  ["download", "export"]
])

/** The command of that name in a group, which stands without the group's name. */
const inGroup = (groups: ReadonlyArray<Group>, name: string | undefined): string | undefined => {
  const owners = groups.filter(({ commands }) => shownNodes(commands).some((each) => each.name === name))
  // Secrets are the most used group.
  const owner = owners.find((each) => each.name === "secret") ?? (owners.length === 1 ? owners[0] : undefined)
  return owner === undefined || name === undefined ? undefined : ["coffer", owner.name, name].join(" ")
}

/** Whether a command asks before it destroys something. */
const destroys = (node: Group | Leaf): boolean =>
  node.type === "command" && node.options.some(({ description }) => description === destroysWithout)

/** The command that was probably meant: one of a group, without the group's name, by another name, or nearly so spelt. */
export const meant = (tree: Tree, path: ReadonlyArray<string>, word: string): string | undefined => {
  const groups = shownNodes(tree.nodes).filter((node) => node.type === "group")
  const [name] = path
  const other = otherNames.get(word)
  const owned = name === undefined ? (inGroup(groups, word) ?? inGroup(groups, other)) : undefined
  if (owned !== undefined) return owned
  const nodes = shownNodes<Group | Leaf>(
    name === undefined ? tree.nodes : (groups.find((each) => namesOf(each).includes(name))?.commands ?? [])
  )
  const names = nodes.flatMap(namesOf)
  // One who has mistyped something harmless must not be led to what destroys.
  const harmless = nodes.filter((node) => !destroys(node)).flatMap(namesOf)
  const close = names.find((each) => each === other) ?? nearest(harmless, word)
  return close === undefined ? undefined : ["coffer", ...path, close].join(" ")
}
