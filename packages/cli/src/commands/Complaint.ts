import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { HashMap } from "effect"

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

const rewrite = (text: string): string => {
  const missing = [...text.matchAll(/Expected to find option: '([^']+)'/g)].map(([, name = ""]) => name)
  if (missing.length > 0) return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
  const unknown = /^Received unknown argument: '(.*)'$/s.exec(text)?.[1]
  if (unknown !== undefined) return `${unknown} has no place here`
  const argument = /^Missing argument <([^>]*)>/.exec(text)?.[1]
  if (argument !== undefined) return `${argument} is missing`
  const choices = /^Expected one of the following cases: (.*)$/.exec(text)?.[1]
  if (choices !== undefined) return `an option or argument takes one of ${choices}`
  // What a schema says stands at the end of a tree.
  return text.slice(text.lastIndexOf("└─ ") + 1).replace(/^─ /, "")
}

/** Whether a command line ends where one of several commands should stand; to ask for `--help` is something else. */
export const lacksCommand = (names: Names, argv: ReadonlyArray<string>): boolean => {
  const [first, ...rest] = argv.filter((word) => word !== "--")
  return rest.length === 0 && (first === undefined || (names.get(first)?.size ?? 0) > 0)
}

export const missingCommand = (argv: ReadonlyArray<string>): string =>
  `a command is missing: ${["coffer", ...argv.filter((word) => word !== "--")].join(" ")} COMMAND`

/** What is wrong with a command line, in a sentence that says where to look. */
export const complaint = (names: Names, argv: ReadonlyArray<string>, text: string): string => {
  const { path, stray } = locate(names, argv)
  const command = ["coffer", ...path].join(" ")
  const problem =
    stray === undefined || stray === ""
      ? rewrite(text)
      : stray.startsWith("-")
        ? `${stray} has no place here`
        : `${stray} is no command of ${command}`
  return `${problem}; ${command} --help shows what there is`
}
