import * as CliConfig from "@effect/cli/CliConfig"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Usage from "@effect/cli/Usage"
import { HashMap } from "effect"
import { tidyHelp } from "./HelpText.js"

export type Descriptor = CommandDescriptor.Command<unknown>

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
}

const helpOption: OfferedOption = { word: "--help", text: "Show the help", choices: [] }
const versionOption: Offer = { word: "--version", text: "Show the version" }

const nameOf = (command: Descriptor) => [...CommandDescriptor.getNames(command)][0] ?? ""

const plainText = (help: HelpDoc.HelpDoc) => HelpDoc.toAnsiText(help).replace(/\x1b\[[0-9;]*m/g, "")

/** A command's help, as `--help` prints it. */
const helpOf = (command: Descriptor): string => {
  const usage = plainText(Usage.getHelp(CommandDescriptor.getUsage(command)))
  const rest = plainText(CommandDescriptor.getHelp(command, CliConfig.make({ showBuiltIns: false })))
  return tidyHelp(`USAGE\n$ ${usage}\n${rest}`, [])
}

/** What a command does, in the first sentence of its help. */
const summaryOf = (help: string) => /^DESCRIPTION\n {2}(.*?)\.?$/m.exec(help)?.[1] ?? ""

const choicesIn = (type: string) => (type.includes(" | ") ? type.split(" | ") : [])

const optionsIn = (help: string): ReadonlyArray<OfferedOption> => [
  ...[...help.matchAll(/^ {2}(--[a-z][a-z-]*)(?: (\S+(?: \| \S+)*))?(?: {2,}(.*))?$/gm)].map(
    ([, word = "", type = "", text = ""]) => ({ word, text, choices: choicesIn(type) })
  ),
  helpOption
]

/** The values of the first argument, if it is a choice. */
const valuesIn = (help: string): ReadonlyArray<Offer> => {
  const type = /^ {2}coffer(?: [a-z-]+)* <[A-Z_]+> (\S+(?: \| \S+)+)/m.exec(help)?.[1] ?? ""
  return choicesIn(type).map((word) => ({ word, text: "" }))
}

const leaf = (command: Descriptor, first: string, second: string | undefined): CompletionContext => {
  const help = helpOf(command)
  return { first, second, words: valuesIn(help), options: optionsIn(help) }
}

const offer = (word: string, command: Descriptor): Offer => ({ word, text: summaryOf(helpOf(command)) })

const inGroup = (command: Descriptor): ReadonlyArray<CompletionContext> => {
  const first = nameOf(command)
  const inside = [...HashMap.entries(CommandDescriptor.getSubcommands(command))].filter(([word]) => word !== first)
  if (inside.length === 0) return [leaf(command, first, undefined)]
  return [
    { first, second: "", words: inside.map(([word, subcommand]) => offer(word, subcommand)), options: [helpOption] },
    ...inside.map(([word, subcommand]) => leaf(subcommand, first, word))
  ]
}

/** Every place of a client's command line. */
export const placesOf = (commands: ReadonlyArray<Descriptor>): ReadonlyArray<CompletionContext> => [
  {
    first: "",
    second: "",
    words: [...commands.map((command) => offer(nameOf(command), command)), helpOption, versionOption],
    options: []
  },
  ...commands.flatMap(inGroup)
]
