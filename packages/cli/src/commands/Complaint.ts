import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { editDistance, nearestBy } from "@coffer/domain/Nearest"
import { HashMap } from "effect"
import { unmark } from "../Verbatim.js"

/** The names of commands, and of the commands in each. */
export type Names = ReadonlyMap<string, ReadonlySet<string>>

export const namesOf = (commands: ReadonlyArray<CommandDescriptor.Command<unknown>>): Names =>
  new Map(
    commands.map((command) => {
      const [name = ""] = CommandDescriptor.getNames(command)
      const inside = new Set(HashMap.keys(CommandDescriptor.getSubcommands(command)))
      // The parser takes a command without any for its own.
      inside.delete(name)
      return [name, inside]
    })
  )

/** How far a command line names commands, and the word behind them where one more should. */
const locate = (
  names: Names,
  [first = "", second = ""]: ReadonlyArray<string>
): { readonly path: ReadonlyArray<string>; readonly stray?: string } => {
  const subcommands = names.get(first)
  if (subcommands === undefined) return { path: [], stray: first }
  if (subcommands.size === 0) return { path: [first] }
  return subcommands.has(second) ? { path: [first, second] } : { path: [first], stray: second }
}

/** Options of the parser's own that are none of ours. `--version` is one only by itself. */
const hidden = /^--(version|wizard|completions|log-level)(=|$)/

/** The first word in front of `--` that the parser would take for one of its own options. */
export const hiddenOption = (argv: ReadonlyArray<string>): string | undefined => {
  const dashes = argv.indexOf("--")
  const found = argv.slice(0, dashes < 0 ? undefined : dashes).find((word) => hidden.test(word))
  return found === undefined ? undefined : optionName(found)
}

/** The options of a command. */
export type OptionsOf = (path: ReadonlyArray<string>) => ReadonlyArray<string>

/** A word that is spelled nearly so, or cut short. */
const nearly = (words: ReadonlyArray<string>, stray: string): string | undefined =>
  nearestBy(words, (word) => {
    if (stray.length > 1 && word.startsWith(stray)) return 0
    const far = editDistance(stray, word)
    return far <= 2 && far < word.length / 2 ? far : Infinity
  })

/** The name of an option, without the value that may stand behind it. */
const optionName = (word: string): string => word.replace(/=.*$/s, "")

const isOption = (word: string): boolean => /^--[a-z][a-z-]*(=|$)/.test(word)

/** A value that is given by itself can begin with a hyphen: it is not repeated. */
const takesValue = (path: ReadonlyArray<string>): boolean => path.join(" ") === "secret set"

/** An option that the command has not, and the one of its options that was meant: the parser takes it for an argument. */
const misnamedOption = (
  argv: ReadonlyArray<string>,
  path: ReadonlyArray<string>,
  optionsOf: OptionsOf
): string | undefined => {
  if (takesValue(path)) return undefined
  const options = optionsOf(path)
  const dashes = argv.indexOf("--")
  for (const word of argv.slice(0, dashes < 0 ? undefined : dashes)) {
    const name = optionName(word)
    const known = isOption(word) && !options.includes(name) ? nearly(options, name) : undefined
    if (known !== undefined) return `${name} has no place here; did you mean ${known}?`
  }
  return undefined
}

/**
 * An argument too many, by its place: its text may be a secret. The name of an option is shown, but not where a value may
 * stand, which can begin with a hyphen too.
 */
const unexpected = (argv: ReadonlyArray<string>, path: ReadonlyArray<string>, word: string): string => {
  const mayBeValue = takesValue(path)
  if (!mayBeValue && /^--?[a-z][a-z-]*(=|$)/.test(word)) return `${optionName(word)} has no place here`
  const dashes = argv.indexOf("--")
  const words = argv.filter((_, index) => index !== dashes)
  const place = words.lastIndexOf(unmark(word)) - path.length + 1
  const sentence = `argument ${place} of ${["coffer", ...path].join(" ")} has no place here`
  return mayBeValue ? `${sentence}: put a value with spaces in quotes` : sentence
}

const rewrite = (argv: ReadonlyArray<string>, path: ReadonlyArray<string>, text: string): string => {
  const missing = [...text.matchAll(/Expected to find option: '([^']+)'/g)].map(([, name = ""]) => name)
  if (missing.length > 0) return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
  const unknown = /^Received unknown argument: '(.*)'$/s.exec(text)?.[1]
  if (unknown !== undefined) return unexpected(argv, path, unknown)
  const argument = /^Missing argument <([^>]*)>/.exec(text)?.[1]
  if (argument !== undefined) return `${argument} is missing`
  const choices = /^Expected one of the following cases: (.*)$/.exec(text)?.[1]
  if (choices !== undefined) return `an option or argument takes one of ${choices}`
  if (/^'.*' is not an? integer$/s.test(text)) return "an option takes a whole number"
  // What a schema says stands at the end of a tree.
  const rule = text.slice(text.lastIndexOf("└─ ") + 1).replace(/^─ /, "")
  return rule.startsWith("must be an e-mail address") && !argv.some((word) => optionName(word) === "--email")
    ? `EMAIL must be an e-mail address, as in: ${["coffer", ...path, "ada@example.com"].join(" ")}`
    : rule
}

/** Whether a command line ends where one of several commands should stand; to ask for `--help` is something else. */
export const lacksCommand = (names: Names, argv: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = argv.filter((word) => word !== "--")
  return rest.length === 0 && (first === undefined || (names.get(first)?.size ?? 0) > 0)
}

export const missingCommand = (argv: ReadonlyArray<string>): string =>
  `a command is missing: ${["coffer", ...argv.filter((word) => word !== "--")].join(" ")} COMMAND`

/** The command that someone had in mind: one of a group, said without it, or one that is spelled nearly so, or cut short. */
const meant = (names: Names, path: ReadonlyArray<string>, stray: string): string | undefined => {
  const [group] = path
  if (group === undefined) {
    const groups = [...names].flatMap(([name, inside]) => (inside.has(stray) ? [name] : []))
    // Of several, secrets are what most people are here for.
    const whose = groups.includes("secret") ? "secret" : groups.length === 1 ? groups[0] : undefined
    if (whose !== undefined) return ["coffer", whose, stray].join(" ")
  }
  const nearest = nearly(group === undefined ? [...names.keys()] : [...(names.get(group) ?? [])], stray)
  return nearest === undefined ? undefined : ["coffer", ...path, nearest].join(" ")
}

/** What is wrong with a command line, in a sentence that says where to look. */
export const complaint = (names: Names, optionsOf: OptionsOf, argv: ReadonlyArray<string>, text: string): string => {
  const { path, stray } = locate(names, argv)
  const command = ["coffer", ...path].join(" ")
  const hint = `${command} --help shows what there is`
  if (stray === undefined || stray === "") {
    const misnamed = misnamedOption(argv, path, optionsOf)
    return misnamed === undefined ? `${rewrite(argv, path, text)}; ${hint}` : `${misnamed} ${hint}`
  }
  if (stray.startsWith("-")) return `${optionName(stray)} has no place here; ${hint}`
  const known = meant(names, path, stray)
  return `${stray} is no command of ${command}; ${known === undefined ? "" : `did you mean ${known}? `}${hint}`
}
