import type { Group, Leaf } from "./Command.js"
import { encodeSyntax, joinSyntaxes } from "./CompletionSyntax.js"
import { shownOptions } from "./Data.js"
import { namesOf, shownNodes, type Tree } from "./Tree.js"

/** A word that can be completed, and its meaning. */
export interface Offer {
  readonly word: string
  readonly text: string
}

export interface OfferedOption extends Offer {
  /** The values of a choice. */
  readonly choices: ReadonlyArray<string>
}

/** The command so far, and what can follow. */
export interface CompletionContext {
  readonly first: string
  /** The subcommand; none if the command has none. */
  readonly second: string | undefined
  /** Commands, or the values of a choice. If empty, files are completed. */
  readonly words: ReadonlyArray<Offer>
  readonly options: ReadonlyArray<OfferedOption>
  /** Whether the words are the rest of longer names, and stand right behind `second`. */
  readonly isNameLonger?: boolean
  /** The syntax of a command that names of the server complete. */
  readonly syntax?: string
}

const helpOption: OfferedOption = { word: "--help", text: "Show the help", choices: [] }
const versionOption: Offer = { word: "--version", text: "Show the version" }

const leafContext = (leaf: Leaf, first: string, second: string | undefined): CompletionContext => {
  const syntax = encodeSyntax(leaf)
  return {
    first,
    second,
    words: (leaf.arguments[0]?.choices ?? []).map((word) => ({ word, text: "" })),
    options: [
      ...shownOptions(leaf).map(({ choices = [], description, name }) => ({
        word: `--${name}`,
        text: description,
        choices
      })),
      helpOption
    ],
    ...(syntax === undefined ? {} : { syntax })
  }
}

const offer = (word: string, { description }: Group | Leaf): Offer => ({ word, text: description })

const topLevel = (commands: ReadonlyArray<Leaf>) =>
  commands.filter(({ name }) => !name.includes(" ")).map((leaf) => offer(leaf.name, leaf))

const firstWord = ({ name }: Leaf): string => name.split(" ")[0] ?? ""

/** The scripts tell commands apart by one word of a group: commands that begin with it are offered together. */
const contextsIn = (commands: ReadonlyArray<Leaf>, first: string): ReadonlyArray<CompletionContext> =>
  commands
    .filter(({ name }) => !name.includes(" "))
    .map((leaf) => {
      const context = leafContext(leaf, first, leaf.name)
      const longer = commands.filter((each) => each !== leaf && firstWord(each) === leaf.name)
      if (longer.length === 0) return context
      const own = new Set(context.options.map(({ word }) => word))
      const options = longer.flatMap((each) => leafContext(each, first, leaf.name).options)
      const restOf = ({ name }: Leaf) => name.slice(leaf.name.length + 1)
      return {
        ...context,
        isNameLonger: true,
        syntax: joinSyntaxes(
          context.syntax,
          longer.map((each) => [restOf(each), encodeSyntax(each)] as const)
        ),
        words: longer.map((each) => offer(restOf(each), each)),
        options: [...context.options, ...options.filter(({ word }) => !own.has(word) && own.add(word))]
      }
    })

const contextsOf = (node: Group | Leaf): ReadonlyArray<CompletionContext> => {
  if (node.type === "command") return namesOf(node).map((name) => leafContext(node, name, undefined))
  const commands = shownNodes(node.commands)
  return namesOf(node).flatMap((first) => [
    { first, second: "", words: topLevel(commands), options: [helpOption] },
    ...contextsIn(commands, first)
  ])
}

/** Every place of a command line where a word can be completed. */
export const completionContexts = ({ nodes }: Tree): ReadonlyArray<CompletionContext> => [
  {
    first: "",
    second: "",
    words: [
      ...shownNodes(nodes).flatMap((node) => namesOf(node).map((name) => offer(name, node))),
      helpOption,
      versionOption
    ],
    options: []
  },
  ...shownNodes(nodes).flatMap(contextsOf)
]
