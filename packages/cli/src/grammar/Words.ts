import { editDistance, nearestBy } from "@coffer/domain/base/Nearest"
import { parseArgs } from "node:util"
import { longOf, type OptionData, shortOf, shownOptions, type Syntax } from "./Data.js"

/** An argument as it was given. */
export interface Word {
  readonly text: string
  /** Whether it stood after the `--` of this command line, where a hyphen has no meaning. */
  readonly isVerbatim: boolean
}

/** A command line that its syntax allows, as far as options go. */
export interface Words {
  readonly type: "words"
  /** The values of each option that was given, by its name; of an option without a value, none. */
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly arguments: ReadonlyArray<Word>
}

interface Problem {
  readonly message: string
  /** An unknown option. */
  readonly option?: string
}

/** A command line with mistakes: the first, and the messages of the others. */
interface Wrong extends Problem {
  readonly type: "wrong"
  readonly others: ReadonlyArray<string>
}

export type Reading = Words | { readonly type: "help" } | Wrong

const helpWords = new Set(["--help", "-h"])

/** Whether a word asks for help. */
export const isHelp = (word: string): boolean => helpWords.has(word)

/** A word of the list with nearly the same spelling, or that begins so. */
export const nearest = (words: ReadonlyArray<string>, stray: string): string | undefined =>
  nearestBy(words, (word) => {
    if (stray.length > 1 && word.startsWith(stray)) return 0
    if (word.toLowerCase() === stray.toLowerCase()) return 0
    const distance = editDistance(stray, word)
    return distance <= 2 && distance < word.length / 2 ? distance : Infinity
  })

/**
 * Returns the text between the sentence about a missing name and the command that lists existing names. It is a question if
 * one of them is nearly the same.
 */
export const questionAbout = (stray: string, names: ReadonlyArray<string>): string => {
  const meant = nearest(names, stray)
  return meant === undefined || meant === stray ? ";" : `; did you mean ${meant}?`
}

/** Describes the problem with a value that is not one of the choices. */
export const choiceProblem = (name: string, choices: ReadonlyArray<string>, value: string): string => {
  const meant = nearest(choices, value)
  return `${name} takes one of ${choices.join(", ")}${meant === undefined ? "" : `; did you mean ${meant}?`}`
}

const unknown = (syntax: Syntax, option: string): Problem => {
  const meant = nearest(
    shownOptions(syntax).map(({ name }) => `--${name}`),
    option
  )
  return {
    option,
    message: `unknown option ${option}${meant === undefined ? "" : `; did you mean ${meant}?`}`
  }
}

/** The name of an option, without a value after `=`. */
export const optionName = (word: string): string => word.replace(/=.*$/s, "")

/** A group of short options, such as `-abc`. Each stands by itself. */
const group = /^-[^-]./s

const tokensOf = (argv: ReadonlyArray<string>, { options }: Syntax) =>
  parseArgs({
    args: argv.map((word) => (group.test(word) ? "-x" : word)),
    options: Object.fromEntries(
      options.map(({ isValueOptional, name, value }) => {
        const short = shortOf(name)
        const type = value === undefined || isValueOptional === true ? ("boolean" as const) : ("string" as const)
        return [name, short === undefined ? { type } : { type, short }]
      })
    ),
    strict: false,
    allowPositionals: true,
    tokens: true
  }).tokens

/** Returns the problem with the value of an option. */
const valueProblem = (
  { check, choices, isValueOptional, name, value: type }: OptionData,
  value: string | undefined,
  isInline: boolean,
  known: ReadonlyMap<string, OptionData>
): string | undefined => {
  if (isValueOptional === true && !isInline && (value === undefined || value === "")) return undefined
  if (type === undefined) return isInline ? `--${name} takes no value` : undefined
  if (value === undefined || value === "") return `--${name} needs a value`
  if (choices !== undefined && !choices.includes(value)) return choiceProblem(`--${name}`, choices, value)
  const other = optionName(value)
  const isOption = value === "--" || known.has(other.startsWith("--") ? other.slice(2) : (longOf(other) ?? ""))
  return isOption && !isInline
    ? `--${name} needs a value, and ${other} is an option; for a value that looks like one, write --${name}=VALUE`
    : check?.(value)
}

/** The arguments that a command line has, where old options do not stand in their place. */
export const wantedOf = (wanted: Syntax["arguments"], options: Words["options"]): Syntax["arguments"] =>
  wanted.filter(({ instead = [] }) => !instead.some((name) => options.has(name)))

/** The words of each argument: as many as leave enough for those after it. */
export const shareOut = (
  wanted: Syntax["arguments"],
  words: ReadonlyArray<Word>
): ReadonlyArray<ReadonlyArray<Word>> => {
  let rest = words
  return wanted.map(({ most }, index) => {
    const later = wanted.slice(index + 1).reduce((sum, { least }) => sum + least, 0)
    const own = rest.slice(0, Math.max(0, Math.min(most, rest.length - later)))
    rest = rest.slice(own.length)
    return own
  })
}

/** Returns the problems with the values of arguments. */
const argumentProblems = (wanted: Syntax["arguments"], words: ReadonlyArray<Word>): ReadonlyArray<Problem> =>
  shareOut(wanted, words).flatMap((own, index) =>
    own.flatMap(({ text }) => {
      const message = wanted[index]?.check?.(text)
      return message === undefined ? [] : [{ message }]
    })
  )

/**
 * Splits the words of a command line into options and arguments.
 *
 * @param isCommandLast whether the first argument starts another command, after which nothing is an option.
 */
export const readWords = (syntax: Syntax, argv: ReadonlyArray<string>, isCommandLast = false): Reading => {
  const known = new Map(syntax.options.map((option) => [option.name, option]))
  const tokens = tokensOf(argv, syntax)
  const end = tokens.find(({ kind }) => kind === "option-terminator" || (isCommandLast && kind === "positional"))
  const limit = end?.index ?? argv.length
  const before = tokens.filter(({ index }) => index < limit)
  const asksForHelp = before.some(
    (token) =>
      token.kind === "option" && (isHelp(token.rawName) || (token.inlineValue === false && isHelp(token.value)))
  )
  if (asksForHelp) return { type: "help" }

  const takesAnything = syntax.arguments.some(({ isSecret }) => isSecret === true)
  const options = new Map<string, ReadonlyArray<string>>()
  const found: Array<Word> = []
  const problems: Array<Problem> = []
  let taken = -1
  for (const token of before) {
    if (token.index === taken) continue
    const word = argv[token.index] ?? ""
    const named = token.kind !== "option" ? "" : token.rawName.startsWith("--") ? token.name : longOf(token.rawName)
    const option = known.get(named ?? "")
    if (token.kind !== "option" || (option === undefined && takesAnything)) {
      found.push({ text: word, isVerbatim: false })
      continue
    }
    if (option === undefined) {
      problems.push(unknown(syntax, optionName(word)))
      continue
    }
    const isInline = token.inlineValue === true
    const follows = before.some(({ index, kind }) => kind === "positional" && index === token.index + 1)
    if (option.isValueNext === true && !isInline && follows) taken = token.index + 1
    const isNext = taken === token.index + 1 || (!isInline && token.value !== undefined)
    const given = isNext ? argv[token.index + 1] : token.value
    const value = option.isValueOptional === true ? (given ?? "") : given
    const values = options.get(option.name)
    const problem =
      values !== undefined && option.isRepeatable !== true
        ? `--${option.name} is given twice`
        : valueProblem(option, value, isInline, known)
    if (problem !== undefined) problems.push({ message: problem })
    options.set(option.name, [...(values ?? []), ...(value === undefined ? [] : [value])])
  }
  const isVerbatim = end?.kind === "option-terminator"
  const rest = argv.slice(isVerbatim ? limit + 1 : limit)
  const given = [...found, ...rest.map((text) => ({ text, isVerbatim }))]
  // The word after an unknown option may be its value.
  const isCounted = problems.every(({ option }) => option === undefined)
  const wanted = wantedOf(syntax.arguments, options)
  const [first, ...others] = [...problems, ...(isCounted ? argumentProblems(wanted, given) : [])]
  if (first === undefined) return { type: "words", options, arguments: given }
  const further = new Set(others.map(({ message }) => message).filter((message) => message !== first.message))
  return { type: "wrong", ...first, others: [...further] }
}

/** Describes the missing options or arguments, or the first surplus argument, in a sentence. */
export const countProblem = (
  { arguments: all, options }: Syntax,
  words: Words,
  command: string
): string | undefined => {
  const wanted = wantedOf(all, words.options)
  const missing = options.filter(
    ({ isRequired, name, unless = [] }) =>
      isRequired === true && ![name, ...unless].some((each) => words.options.has(each))
  )
  if (missing.length > 0) {
    return `${missing.map(({ name }) => `--${name}`).join(", ")} ${missing.length === 1 ? "is" : "are"} missing`
  }
  let left = words.arguments.length
  const absent: Array<string> = []
  for (const { least, name } of wanted) {
    if (left < least) absent.push(name)
    left -= Math.min(left, least)
  }
  if (absent.length > 0) return `${absent.join(", ")} ${absent.length === 1 ? "is" : "are"} missing`
  const most = wanted.reduce((sum, argument) => sum + argument.most, 0)
  if (words.arguments.length <= most) return undefined
  // By its place: its text may be a secret.
  const sentence = `unexpected argument ${most + 1} of ${command}`
  return wanted.some(({ isSecret }) => isSecret === true) ? `${sentence}: put a value with spaces in quotes` : sentence
}
