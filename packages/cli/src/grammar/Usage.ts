import { fill, type Item } from "../terminal/Wrap.js"
import type { ArgumentData, OptionData, Syntax } from "./Data.js"

export const commandLine = (path: ReadonlyArray<string>): string => ["coffer", ...path].join(" ")

/** More choices than fit a line of the help stand in the description. */
const maxChoices = 50

/** How an option is written, such as `--generate[=LENGTH]`: in help, manual pages and messages alike. */
export const optionText = ({ choices, isValueNext, isValueOptional, name, value }: OptionData): string => {
  const listed = choices?.join(" | ") ?? ""
  const taken = listed === "" || listed.length > maxChoices ? value : listed
  if (taken === undefined) return `--${name}`
  if (isValueOptional !== true) return `--${name} ${taken}`
  return isValueNext === true ? `--${name} [${taken}]` : `--${name}[=${taken}]`
}

const repeated = (text: string, isRepeated: boolean) => (isRepeated ? `${text}...` : text)

const optionUsage = (option: OptionData) =>
  repeated(option.isRequired === true ? optionText(option) : `[${optionText(option)}]`, option.isRepeatable === true)

const argumentUsage = ({ least, most, name }: ArgumentData) =>
  repeated(least === 0 ? `[<${name}>]` : `<${name}>`, most > 1)

const argumentText = ({ choices, name }: ArgumentData): string =>
  choices === undefined ? `<${name}>` : `<${name}> ${choices.join(" | ")}`

/** The arguments and options of a command with their descriptions, for help and manual pages. */
export const usageItems = (syntax: Syntax): Readonly<Record<"arguments" | "options", ReadonlyArray<Item>>> => ({
  arguments: syntax.arguments.map((each) => ({ name: argumentText(each), text: each.description })),
  options: syntax.options.map((each) => ({ name: optionText(each), text: each.description }))
})

/** How a command of a group is called. */
export const groupUsage = (path: ReadonlyArray<string>): string => `${commandLine(path)} COMMAND`

/** The lines that say how a command is called, broken between its options. */
export const usageLines = (
  path: ReadonlyArray<string>,
  { arguments: words, options }: Syntax,
  width: number | undefined
): ReadonlyArray<string> => {
  const parts = [commandLine(path), ...options.map(optionUsage), ...words.map(argumentUsage)]
  const [first, ...rest] = fill(parts, width === undefined ? undefined : width - 4)
  return [first, ...rest.map((line) => `    ${line}`)]
}
