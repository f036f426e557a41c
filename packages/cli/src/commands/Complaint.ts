import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import { HashMap, Option } from "effect"

/** How far a command line names commands, and the word behind them where one more should. */
export const locate = <Name extends string, R, E, A>(
  whole: Command.Command<Name, R, E, A>,
  argv: ReadonlyArray<string>
): { readonly path: ReadonlyArray<string>; readonly stray: string | undefined } => {
  const path: Array<string> = []
  let subcommands = Command.getSubcommands(whole)
  for (const word of argv) {
    const next = HashMap.get(subcommands, word)
    if (Option.isNone(next)) return { path, stray: HashMap.isEmpty(subcommands) ? undefined : word }
    path.push(word)
    subcommands = CommandDescriptor.getSubcommands(next.value)
  }
  return { path, stray: undefined }
}

const rewrite = (text: string): string => {
  const missing = [...text.matchAll(/Expected to find option: '([^']+)'/g)].map(([, name = ""]) => name)
  if (missing.length > 0) return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
  const unknown = /^Received unknown argument: '(.*)'$/s.exec(text)?.[1]
  if (unknown !== undefined) return `${unknown} has no place here`
  const argument = /^Missing argument <(.*)>$/.exec(text)?.[1]
  if (argument !== undefined) return `${argument} is missing`
  const choices = /^Expected one of the following cases: (.*)$/.exec(text)?.[1]
  if (choices !== undefined) return `an option or argument takes one of ${choices}`
  // What a schema says stands at the end of a tree.
  return text.slice(text.lastIndexOf("└─ ") + 1).replace(/^─ /, "")
}

/** What is wrong with a command line, in a sentence that says where to look. */
export const complaint = <Name extends string, R, E, A>(
  whole: Command.Command<Name, R, E, A>,
  argv: ReadonlyArray<string>,
  text: string
): string => {
  const { path, stray } = locate(whole, argv)
  const command = ["coffer", ...path].join(" ")
  const problem = stray === undefined || stray.startsWith("-") ? rewrite(text) : `${stray} is no command of ${command}`
  return `${problem}; ${command} --help shows what there is`
}
