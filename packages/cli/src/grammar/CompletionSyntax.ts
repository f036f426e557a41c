import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import { longOf, type NameKind, nameKinds, shownOptions, type Syntax } from "./Data.js"

/** Where another command begins. */
const command = "--"
const several = "..."
const noNames = "-"

/**
 * The syntax of a command as a completion script hands it to `coffer __complete`, in words: `--json` for an option without
 * a value, `--to=env` for one that names complete, `key` for an argument, `key...` for several, `-` for an argument without
 * names, and `--` where another command begins. Options that are left out have a value. None if names complete nothing.
 */
export const encodeSyntax = (syntax: Syntax): string | undefined => {
  const { arguments: words } = syntax
  const options = shownOptions(syntax)
  if (![...words, ...options].some(({ names }) => names !== undefined)) return undefined
  const optionWords = options.flatMap(({ isValueOptional, name, names, value }) => {
    if (names !== undefined) return [`--${name}=${names}`]
    return value === undefined || isValueOptional === true ? [`--${name}`] : []
  })
  const argumentWords = words.map(({ most, names = noNames }) => {
    if (most === Infinity) return command
    return most > 1 && names !== noNames ? names + several : names
  })
  return ["--help", ...optionWords, ...argumentWords].join(" ")
}

const separator = " | "

/** The syntax of a command, and those of the commands whose names begin with its name, behind the rest of theirs. */
export const joinSyntaxes = (
  own: string | undefined,
  longer: ReadonlyArray<readonly [rest: string, syntax: string | undefined]>
): string => [own ?? "", ...longer.map(([rest, syntax]) => `${rest} ${syntax ?? ""}`)].join(separator)

const isNameKind = (text: string | undefined): text is NameKind => nameKinds.some((kind) => kind === text)

const splitOption = (word: string): readonly [name: string, value: string | undefined] => {
  const at = word.indexOf("=")
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

const decodeSyntax = (syntax: string) => {
  const words = syntax.split(" ")
  const isOption = (word: string) => word.startsWith("--") && word !== command
  const kinds = words.filter((word) => !word.startsWith("--"))
  return {
    options: new Map(words.filter(isOption).map(splitOption)),
    isCommandLast: words.includes(command),
    /** The kind of name of an argument, by its position. */
    kindAt: (position: number) => {
      const kind = kinds[position] ?? kinds.at(-1)
      const isSeveral = kind?.endsWith(several) === true
      return position < kinds.length || isSeveral ? kind?.replace(several, "") : undefined
    }
  }
}

const settings: Readonly<Record<string, keyof CommandLineSettings>> = {
  "--server-url": "serverUrl",
  "--org": "org",
  "--project": "project",
  "--env": "env"
}

/** Shells hand words over as they were typed. */
const withoutQuotes = (word: string) => word.replace(/['"\\]/g, "")

/** A word, with a short option in full. */
const inFull = (word: string): string => {
  const long = longOf(word)
  return long === undefined ? word : `--${long}`
}

/** A word of a command line that names complete. */
export interface Unfinished {
  readonly kind: NameKind
  /** The word up to now, without the name of an option before `=`. */
  readonly text: string
  /** The other arguments of the command, if the word is an argument. */
  readonly others: ReadonlyArray<string>
  /** The settings that the command line gives. */
  readonly given: CommandLineSettings
}

/**
 * Reads a command line that is being typed. Returns none if no names complete its unfinished word.
 *
 * @param syntax of the command, as `encodeSyntax` writes it
 * @param index of the unfinished word
 * @param words after the name of the command
 */
export const readUnfinished = (syntax: string, index: number, words: ReadonlyArray<string>): Unfinished | undefined => {
  const [own = "", ...longer] = syntax.split(separator)
  const named = longer.find((each) => index > 0 && each.startsWith(`${words[0] ?? ""} `))
  return named === undefined
    ? readWord(own, index, words)
    : readWord(named.slice(named.indexOf(" ") + 1), index - 1, words.slice(1))
}

const readWord = (syntax: string, index: number, words: ReadonlyArray<string>): Unfinished | undefined => {
  const { isCommandLast, kindAt, options } = decodeSyntax(syntax)
  const given: Partial<Record<keyof CommandLineSettings, string>> = {}
  const others: Array<string> = []
  let kind: string | undefined
  let isArgument = false
  let text = words[index] ?? ""
  let option: string | undefined
  let isVerbatim = false

  const takeValue = (name: string, value: string, isUnfinished: boolean) => {
    const setting = settings[name]
    if (isUnfinished) kind = options.get(name)
    else if (setting !== undefined) given[setting] = value
  }

  for (const [position, typed] of words.entries()) {
    const isUnfinished = position === index
    const word = inFull(withoutQuotes(typed))
    if (option !== undefined) {
      takeValue(option, word, isUnfinished)
      option = undefined
    } else if (word.startsWith("--") && !isVerbatim) {
      const [name, value] = splitOption(word)
      if (value !== undefined) {
        takeValue(name, value, isUnfinished)
        if (isUnfinished) text = text.slice(text.indexOf("=") + 1)
      } else if (isUnfinished) continue
      else if (word === "--") isVerbatim = true
      else if (!options.has(name) || options.get(name) !== undefined) option = name
    } else {
      if (isUnfinished) kind = kindAt(others.length)
      if (isUnfinished) isArgument = true
      else others.push(word)
      if (isCommandLast) break
    }
    if (isVerbatim && isCommandLast) break
  }
  return isNameKind(kind) ? { kind, text, others: isArgument ? others : [], given } : undefined
}
