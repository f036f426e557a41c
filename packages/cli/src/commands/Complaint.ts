import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { HashMap } from "effect"
import { unmark } from "../Verbatim.js"
import { choiceArgument, nearest, optionName, optionProblem, type OptionTable } from "./OptionTable.js"

/** The names of commands, and of the subcommands of each. */
export type Names = ReadonlyMap<string, ReadonlySet<string>>

export const namesOf = (commands: ReadonlyArray<CommandDescriptor.Command<unknown>>): Names =>
  new Map(
    commands.map((command) => {
      const [name = ""] = CommandDescriptor.getNames(command)
      const inside = new Set(HashMap.keys(CommandDescriptor.getSubcommands(command)))
      // The parser lists a command without subcommands as its own subcommand.
      inside.delete(name)
      return [name, inside]
    })
  )

/** The command that a command line names, and the word after it when a subcommand is expected there. */
const locate = (
  names: Names,
  [first = "", second = ""]: ReadonlyArray<string>
): { readonly path: ReadonlyArray<string>; readonly stray?: string } => {
  const subcommands = names.get(first)
  if (subcommands === undefined) return { path: [], stray: first }
  if (subcommands.size === 0) return { path: [first] }
  return subcommands.has(second) ? { path: [first, second] } : { path: [first], stray: second }
}

/** Options of the parser that are not the client's. `--version` is one only by itself. */
const hidden = /^--(version|wizard|completions|log-level)(=|$)/

const beforeDashes = (argv: ReadonlyArray<string>) => {
  const dashes = argv.indexOf("--")
  return dashes < 0 ? argv : argv.slice(0, dashes)
}

/** The first word before `--` that the parser would take for one of its own options. */
export const hiddenOption = (argv: ReadonlyArray<string>): string | undefined => {
  const found = beforeDashes(argv).find((word) => hidden.test(word))
  return found === undefined ? undefined : optionName(found)
}

const helpWords = new Set(["--help", "-h"])

/**
 * The command line that asks for help, where one does: by `--help` at any place before `--`, or by `help` as the first word.
 * The parser knows `--help` only as the first option.
 */
export const helpRequest = (names: Names, argv: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const [first, ...rest] = argv
  const words = first === "help" ? rest : argv
  if (first !== "help" && !beforeDashes(argv).some((word) => helpWords.has(word))) return undefined
  const { path, stray } = locate(names, words)
  return [...path, stray === undefined || stray === "" || stray.startsWith("-") ? "--help" : stray]
}

const withHint = (sentence: string, path: ReadonlyArray<string>) =>
  `${sentence}${sentence.endsWith("?") ? "" : ";"} see ${["coffer", ...path].join(" ")} --help`

/** The options and arguments of the command with this name. */
type TableOf = (path: ReadonlyArray<string>) => OptionTable | undefined

/** Commands with an argument that may begin with a hyphen and may be a secret: no message shows such a word. */
const takesValue = (path: ReadonlyArray<string>): boolean => path.join(" ") === "secret set"

/** What is wrong with the options of a command line, as a sentence; nothing where they can be parsed. */
export const optionComplaint = (names: Names, tableOf: TableOf, argv: ReadonlyArray<string>): string | undefined => {
  const { path, stray } = locate(names, argv)
  const table = stray === undefined ? tableOf(path) : undefined
  if (table === undefined) return undefined
  const problem = optionProblem(table, beforeDashes(argv).slice(path.length), takesValue(path))
  return problem === undefined ? undefined : withHint(problem, path)
}

/** An argument too many, by its place: its text may be a secret. */
const unexpected = (argv: ReadonlyArray<string>, path: ReadonlyArray<string>, word: string): string => {
  const dashes = argv.indexOf("--")
  const words = argv.filter((_, index) => index !== dashes)
  const place = words.lastIndexOf(unmark(word)) - path.length + 1
  const sentence = `unexpected argument ${place} of ${["coffer", ...path].join(" ")}`
  return takesValue(path) ? `${sentence}: put a value with spaces in quotes` : sentence
}

const rewrite = (
  argv: ReadonlyArray<string>,
  path: ReadonlyArray<string>,
  table: OptionTable | undefined,
  text: string
): string => {
  const missing = [...text.matchAll(/Expected to find option: '([^']+)'/g)].map(([, name = ""]) => name)
  if (missing.length > 0) return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
  const unknown = /^Received unknown argument: '(.*)'$/s.exec(text)?.[1]
  if (unknown !== undefined) return unexpected(argv, path, unknown)
  const argument = /^Missing argument <([^>]*)>/.exec(text)?.[1]
  if (argument !== undefined) return `${argument} is missing`
  const choices = /^Expected one of the following cases: (.*)$/.exec(text)?.[1]
  if (choices === undefined) return text
  return `${choiceArgument(table, choices.split(", ")) ?? "an argument"} takes one of ${choices}`
}

/** Whether a command line ends where a subcommand is expected. */
export const lacksCommand = (names: Names, argv: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = argv.filter((word) => word !== "--")
  return rest.length === 0 && (first === undefined || (names.get(first)?.size ?? 0) > 0)
}

export const missingCommand = (argv: ReadonlyArray<string>): string =>
  `a command is missing: ${["coffer", ...argv.filter((word) => word !== "--")].join(" ")} COMMAND`

/** The command that was probably meant: one of a group, without the group's name, or one with a similar spelling. */
const meant = (names: Names, path: ReadonlyArray<string>, stray: string): string | undefined => {
  const [group] = path
  if (group === undefined) {
    const groups = [...names].flatMap(([name, inside]) => (inside.has(stray) ? [name] : []))
    // Secrets are the most used group.
    const whose = groups.includes("secret") ? "secret" : groups.length === 1 ? groups[0] : undefined
    if (whose !== undefined) return ["coffer", whose, stray].join(" ")
  }
  const close = nearest(group === undefined ? [...names.keys()] : [...(names.get(group) ?? [])], stray)
  return close === undefined ? undefined : ["coffer", ...path, close].join(" ")
}

/** What is wrong with a command line, in a sentence that says where to look. */
export const complaint = (names: Names, tableOf: TableOf, argv: ReadonlyArray<string>, text: string): string => {
  const { path, stray } = locate(names, argv)
  if (stray === undefined || stray === "") return withHint(rewrite(argv, path, tableOf(path), text), path)
  if (stray.startsWith("-")) return withHint(`unknown option ${optionName(stray)}`, path)
  const known = meant(names, path, stray)
  const command = ["coffer", ...path].join(" ")
  return withHint(
    `unknown command ${stray} of ${command}${known === undefined ? "" : `; did you mean ${known}?`}`,
    path
  )
}
