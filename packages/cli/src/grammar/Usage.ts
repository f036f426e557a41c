import { fill, type Item } from "../terminal/Wrap.js"
import { type ArgumentData, type OptionData, shortOf, shownOptions, type Syntax } from "./Data.js"

export const commandLine = (path: ReadonlyArray<string>): string => ["coffer", ...path].join(" ")

/** More choices than fit a line of the help stand in the description. */
const maxChoices = 50

/** The names of values that are not the last word of their option's name. */
const valueNames: Readonly<Record<string, string>> = {
  account: "WHO",
  after: "CURSOR",
  also: "PLACE",
  any: "TEXT",
  "api-url": "URL",
  approvers: "WHO",
  as: "NAME",
  "as-aws": "SERVICE/REGION/ID",
  "as-password-of": "USER",
  "as-query": "NAME",
  before: "TIME",
  "break-glass": "REASON",
  chain: "HASH",
  claim: "CLAIM=VALUE",
  client: "NAME",
  comment: "TEXT",
  data: "TEXT",
  db: "FILE",
  email: "ADDRESS",
  env: "NAME",
  environment: "NAME",
  except: "KEYS",
  expect: "VERSION",
  for: "DURATION",
  from: "NAME",
  github: "OWNER/REPO",
  gitlab: "GROUP/PROJECT",
  grace: "DURATION",
  instance: "ID",
  jwks: "FILE",
  kubernetes: "NAMESPACE/NAME",
  longest: "DURATION",
  "map-key": "OLD=NEW",
  "max-age": "DURATION",
  "may-break-glass": "WHO",
  method: "METHOD",
  only: "KEYS",
  order: "NAMES",
  org: "NAME",
  out: "FILE",
  output: "FILE",
  owner: "ADDRESS",
  project: "NAME",
  ref: "REF",
  "required-in": "NAMES",
  "requests-wait": "DURATION",
  "rotate-every": "DURATION",
  secret: "KEY",
  "session-for": "DURATION",
  since: "TIME",
  to: "NAME",
  "to-age": "KEY",
  until: "TIME",
  "watch-interval": "DURATION"
}

/** The same of whole numbers that are no amount. */
const numberNames: Readonly<Record<string, string>> = { at: "VERSION", "if-version": "VERSION" }

/** The name of an option's value, as the help shows it: `NAME` in `--env NAME`. */
const valueName = ({ name, value }: OptionData): string | undefined => {
  if (value === "integer") return numberNames[name] ?? "N"
  return value === "text" ? (valueNames[name] ?? name.slice(name.lastIndexOf("-") + 1).toUpperCase()) : value
}

/** How an option is written, such as `--generate[=LENGTH]`: in help, manual pages and messages alike. */
export const optionText = (option: OptionData): string => {
  const { choices, isValueNext, isValueOptional, name } = option
  const value = valueName(option)
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

/** An option with its letter, for a list of options. */
const optionItem = (option: OptionData): Item => {
  const letter = shortOf(option.name)
  return { name: `${letter === undefined ? "    " : `-${letter}, `}${optionText(option)}`, text: option.description }
}

/**
 * The arguments and options of a command with their descriptions, for help and manual pages. The options that many commands
 * have are apart.
 */
export const usageItems = (
  syntax: Syntax
): Readonly<Record<"arguments" | "options" | "common", ReadonlyArray<Item>>> => {
  const shown = shownOptions(syntax)
  return {
    arguments: syntax.arguments.map((each) => ({ name: argumentText(each), text: each.description })),
    options: shown.filter(({ isCommon }) => isCommon !== true).map(optionItem),
    common: shown.filter(({ isCommon }) => isCommon === true).map(optionItem)
  }
}

/** How a command of a group is called. */
export const groupUsage = (path: ReadonlyArray<string>): string => `${commandLine(path)} COMMAND`

/** More options stand in their list alone. */
const maxOptions = 6

/** The lines that say how a command is called, broken between its options. */
export const usageLines = (
  path: ReadonlyArray<string>,
  syntax: Syntax,
  width: number | undefined
): ReadonlyArray<string> => {
  const own = shownOptions(syntax).filter(({ isCommon }) => isCommon !== true)
  const options =
    own.length > maxOptions
      ? [...own.filter(({ isRequired }) => isRequired === true).map(optionUsage), "[OPTIONS]"]
      : own.map(optionUsage)
  const parts = [commandLine(path), ...syntax.arguments.map(argumentUsage), ...options]
  const [first, ...rest] = fill(parts, width === undefined ? undefined : width - 4)
  return [first, ...rest.map((line) => `    ${line}`)]
}
