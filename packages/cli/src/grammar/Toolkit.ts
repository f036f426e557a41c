import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as Options from "@effect/cli/Options"
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Group, Leaf } from "./Command.js"
import type { ArgumentData, OptionData } from "./Data.js"
import type { Words } from "./Words.js"

/** The texts that are given for an option; undefined if it is not. */
const textsOf = ({
  isRepeatable,
  isRequired,
  name,
  value
}: OptionData): Options.Options<ReadonlyArray<string> | undefined> => {
  if (value === undefined) return Options.map(Options.boolean(name), (isGiven) => (isGiven ? [] : undefined))
  const text = Options.text(name)
  if (isRequired === true) return Options.map(text, Array.of)
  if (isRepeatable === true)
    return Options.map(Options.repeated(text), (words) => (words.length === 0 ? undefined : words))
  return Options.map(Options.optional(text), (word) => Option.getOrUndefined(Option.map(word, Array.of)))
}

/** An argument. It shows no words. */
const wordsOf = ({ least, most, name }: ArgumentData): Args.Args<ReadonlyArray<string>> =>
  Args.map(Args.between(Args.redacted({ name }), least, most), Array.map(Redacted.value))

/** A command line that the toolkit has read. It tells commands apart by their names. */
interface Parsed extends Words {
  readonly name: string
}

/** The toolkit's command: the data and the function of a leaf. */
const leafCommand = (leaf: Leaf) => {
  const { descriptor } = Command.make(leaf.name, {
    options: leaf.options.map((data) => Options.map(textsOf(data), (texts) => [data.name, texts] as const)),
    arguments: leaf.arguments.map(wordsOf)
  })
  return Command.fromDescriptor(
    CommandDescriptor.map(descriptor, (given): Parsed => ({
      name: leaf.name,
      type: "words",
      options: new Map(given.options.flatMap(([name, texts]) => (texts === undefined ? [] : [[name, texts]]))),
      arguments: given.arguments.flat().map((text) => ({ text, isVerbatim: false }))
    })),
    (words: Parsed) => leaf.run(words)
  )
}

/** Runs a command with the words of its command line. Only this command is made: each start would else make all of them. */
export const runWords = (leaf: Leaf, words: Words) => leafCommand(leaf).handler({ name: leaf.name, ...words })

const groupCommand = ({ commands, name }: Group) =>
  Command.withSubcommands(Command.make(name), Array.map(commands, leafCommand))

/**
 * Makes the toolkit's command of the client with these commands and groups. Its own parser takes a value that begins with a hyphen
 * for an option, and stops at the first mistake: so `readWords` reads command lines. A property holds one to the other.
 */
export const clientCommand = (nodes: Array.NonEmptyReadonlyArray<Group | Leaf>) =>
  Command.withSubcommands(
    Command.make("coffer"),
    Array.map(nodes, (node) => (node.type === "group" ? groupCommand(node) : leafCommand(node)))
  )
