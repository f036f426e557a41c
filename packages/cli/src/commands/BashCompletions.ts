import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Usage from "@effect/cli/Usage"
import { HashMap } from "effect"

type Descriptor = CommandDescriptor.Command<unknown>

const nameOf = (command: Descriptor) => [...CommandDescriptor.getNames(command)][0] ?? ""

/** The options that a command's usage names. */
const optionsOf = (command: Descriptor): ReadonlyArray<string> => {
  const usage = HelpDoc.toAnsiText(Usage.getHelp(CommandDescriptor.getUsage(command)))
  return [...new Set([...(usage.match(/--[a-z][a-z-]*/g) ?? []), "--help"])]
}

const offer = (pattern: string, words: ReadonlyArray<string>) => `    ${pattern}) words="${words.join(" ")}" ;;`
const offerOptions = (pattern: string, command: Descriptor) =>
  `    ${pattern}) [[ $cur == -* ]] && words="${optionsOf(command).join(" ")}" ;;`

const casesOf = (command: Descriptor): ReadonlyArray<string> => {
  const name = nameOf(command)
  const inside = [...HashMap.entries(CommandDescriptor.getSubcommands(command))].filter(([word]) => word !== name)
  if (inside.length === 0) return [offerOptions(`"${name} "*`, command)]
  return [
    offer(
      `"${name} "`,
      inside.map(([word]) => word)
    ),
    ...inside.map(([word, subcommand]) => offerOptions(`"${name} ${word}"`, subcommand))
  ]
}

/**
 * What bash needs to complete commands and options; where there is nothing to offer, it completes files.
 *
 * The parser's own script does not get past the first word, nor past a name with a hyphen.
 */
export const bashCompletions = (commands: ReadonlyArray<Descriptor>): ReadonlyArray<string> => [
  "_coffer() {",
  "  local cur=${COMP_WORDS[COMP_CWORD]} first= second= words=",
  "  [[ $COMP_CWORD -gt 1 ]] && first=${COMP_WORDS[1]}",
  "  [[ $COMP_CWORD -gt 2 ]] && second=${COMP_WORDS[2]}",
  '  case "$first $second" in',
  offer('" "', [...commands.map(nameOf), "--help", "--version"]),
  ...commands.flatMap(casesOf),
  "  esac",
  '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
  "}",
  "complete -o default -F _coffer coffer"
]
