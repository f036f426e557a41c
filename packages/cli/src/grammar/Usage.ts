import { fill } from "../terminal/Wrap.js"
import type { ArgumentData, OptionData, Syntax } from "./Data.js"

/** How an option is written, such as `--generate[=LENGTH]`: in help, manual pages and messages alike. */
export const optionText = ({ choices, isValueNext, isValueOptional, name, value }: OptionData): string => {
  const taken = choices?.join(" | ") ?? value
  if (taken === undefined) return `--${name}`
  if (isValueOptional !== true) return `--${name} ${taken}`
  return isValueNext === true ? `--${name} [${taken}]` : `--${name}[=${taken}]`
}

const repeated = (text: string, isRepeated: boolean) => (isRepeated ? `${text}...` : text)

const optionUsage = (option: OptionData) =>
  repeated(option.isRequired === true ? optionText(option) : `[${optionText(option)}]`, option.isRepeatable === true)

const argumentUsage = ({ least, most, name }: ArgumentData) =>
  repeated(least === 0 ? `[<${name}>]` : `<${name}>`, most > 1)

export const argumentText = ({ choices, name }: ArgumentData): string =>
  choices === undefined ? `<${name}>` : `<${name}> ${choices.join(" | ")}`

/** The lines that say how a command is called, broken between its options. */
export const usageLines = (
  command: string,
  { arguments: words, options }: Syntax,
  width: number | undefined
): ReadonlyArray<string> => {
  const parts = [command, ...options.map(optionUsage), ...words.map(argumentUsage)]
  const [first, ...rest] = fill(parts, width === undefined ? undefined : width - 4)
  return [first, ...rest.map((line) => `    ${line}`)]
}
