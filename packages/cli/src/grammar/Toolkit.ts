import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as Options from "@effect/cli/Options"
import * as HelpDoc from "@effect/cli/HelpDoc"
import { invalidArgument } from "@effect/cli/ValidationError"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Group, Leaf } from "./Command.js"
import { type ArgumentData, type OptionData, shortOf } from "./Data.js"
import { countProblem, type Words } from "./Words.js"

const withLetter = <A>(options: Options.Options<A>, name: string): Options.Options<A> => {
  const letter = shortOf(name)
  return letter === undefined ? options : Options.withAlias(options, letter)
}

/** The texts that are given for an option; undefined if it is not. */
const textsOf = ({
  isRepeatable,
  isRequired,
  name,
  unless,
  value
}: OptionData): Options.Options<ReadonlyArray<string> | undefined> => {
  if (value === undefined) {
    return Options.map(withLetter(Options.boolean(name), name), (isGiven) => (isGiven ? [] : undefined))
  }
  const text = withLetter(Options.text(name), name)
  if (isRequired === true && unless === undefined) return Options.map(text, Array.of)
  if (isRepeatable === true)
    return Options.map(Options.repeated(text), (words) => (words.length === 0 ? undefined : words))
  return Options.map(Options.optional(text), (word) => Option.getOrUndefined(Option.map(word, Array.of)))
}

/** An argument. It shows no words. How many there are is counted for all arguments together: old options stand for some. */
const wordsOf = ({ most, name }: ArgumentData): Args.Args<ReadonlyArray<string>> =>
  Args.map(Args.between(Args.redacted({ name }), 0, most), Array.map(Redacted.value))

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
    CommandDescriptor.mapEffect(descriptor, (given) => {
      const words: Parsed = {
        name: leaf.name,
        type: "words",
        options: new Map(given.options.flatMap(([name, texts]) => (texts === undefined ? [] : [[name, texts]]))),
        arguments: given.arguments.flat().map((text) => ({ text, isVerbatim: false }))
      }
      const problem = countProblem(leaf, words, leaf.name)
      return problem === undefined ? Effect.succeed(words) : Effect.fail(invalidArgument(HelpDoc.p(problem)))
    }),
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
