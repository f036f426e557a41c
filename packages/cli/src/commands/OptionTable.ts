import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import type * as Usage from "@effect/cli/Usage"
import { editDistance, nearestBy } from "@coffer/domain/Nearest"
import { Option } from "effect"
import type { Descriptor } from "./CompletionPlaces.js"

/**
 * The options and arguments (as `<NAME>`) of a command. None: the option takes no value; else its type, or the values of a
 * choice with ` | ` between them.
 */
export type OptionTable = ReadonlyMap<string, Option.Option<string>>

const namedIn = (usage: Usage.Usage): ReadonlyArray<readonly [string, Option.Option<string>]> => {
  switch (usage._tag) {
    case "Named":
      return usage.names.map((name) => [name, usage.acceptedValues] as const)
    case "Optional":
    case "Repeated":
      return namedIn(usage.usage)
    case "Alternation":
    case "Concat":
      return [...namedIn(usage.left), ...namedIn(usage.right)]
    default:
      return []
  }
}

/** Reads the options of a command from the parser's own description of it. */
export const optionTable = (command: Descriptor): OptionTable => new Map(namedIn(CommandDescriptor.getUsage(command)))

/** The name of an option, without a value after `=`. */
export const optionName = (word: string): string => word.replace(/=.*$/s, "")

/** A word of the list with nearly the same spelling, or that begins so. */
export const nearest = (words: ReadonlyArray<string>, stray: string): string | undefined =>
  nearestBy(words, (word) => {
    if (stray.length > 1 && word.startsWith(stray)) return 0
    const distance = editDistance(stray, word)
    return distance <= 2 && distance < word.length / 2 ? distance : Infinity
  })

/**
 * What is wrong with the options of a command line, in a sentence that names the option. The parser takes an unknown option
 * for an argument, and an option without a value for an unknown one.
 *
 * @param words the words after the command and before `--`.
 * @param takesAnything whether an argument may begin with a hyphen: it may be a secret, and is not shown.
 */
export const optionProblem = (
  table: OptionTable,
  words: ReadonlyArray<string>,
  takesAnything: boolean
): string | undefined => {
  const given = new Set<string>()
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ""
    const name = optionName(word)
    if (!/^--?[A-Za-z]/.test(word)) continue
    const type = table.get(name)
    if (type === undefined) {
      if (takesAnything) continue
      const options = [...table.keys()].filter((key) => key.startsWith("-"))
      const meant = nearest(options, name)
      return `unknown option ${name}${meant === undefined ? "" : `; did you mean ${meant}?`}`
    }
    if (given.has(name)) return `${name} is given twice`
    given.add(name)
    if (Option.isNone(type)) {
      if (name !== word) return `${name} takes no value`
      continue
    }
    const value = name === word ? words[++index] : word.slice(name.length + 1)
    if (value === undefined || value === "") return `${name} needs a value`
    const choices = type.value.split(" | ")
    if (choices.length > 1 && !choices.includes(value)) return `${name} takes one of ${choices.join(", ")}`
    if (name === word && table.has(optionName(value))) {
      return `${name} needs a value, and ${optionName(value)} is an option; for a value that looks like one, write ${name}=VALUE`
    }
  }
  return undefined
}

/** The argument of a command that is a choice of these values. */
export const choiceArgument = (table: OptionTable | undefined, values: ReadonlyArray<string>): string | undefined =>
  [...(table ?? [])]
    .find(([name, type]) => name.startsWith("<") && Option.contains(type, values.join(" | ")))?.[0]
    .slice(1, -1)
