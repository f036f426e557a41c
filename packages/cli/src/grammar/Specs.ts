/** Definitions of the options and arguments of commands: their data, and the one decoder of their values. */
import type { IntegerForm } from "@coffer/domain/base/IntegerForm"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Redacted from "effect/Redacted"
import type { ArgumentData, NameKind, OptionData, Syntax } from "./Data.js"
import { choiceProblem, type Word, type Words } from "./Words.js"

/** How the text of an option or an argument becomes a value. */
export interface Codec<A> {
  readonly value: "text" | "integer"
  readonly choices?: ReadonlyArray<string>
  readonly description: string
  /** Fails with a sentence that begins with `name`. */
  readonly decode: (name: string, text: string) => Either.Either<A, string>
}

/** The texts of all options of a command line, by their names. */
export type Given = Words["options"]

/** An option: its data, and its value for the texts that were given; for undefined if it was not. */
export interface OptionSpec<A> {
  readonly data: OptionData
  /** Further options that give the same value, such as old ones. */
  readonly also?: ReadonlyArray<OptionData>
  readonly decode: (texts: ReadonlyArray<string> | undefined, given: Given) => Either.Either<A, string>
}

/** An argument: its data, and its value for its words. */
export interface ArgumentSpec<A> {
  readonly data: ArgumentData
  /** The old options that may stand in its place. */
  readonly also?: ReadonlyArray<OptionData>
  readonly decode: (words: ReadonlyArray<Word>, given: Given) => Either.Either<A, string>
}

/** The options and arguments of a command, by the names that its function uses. Arguments stand in this order. */
export type Specs = Readonly<Record<string, OptionSpec<unknown> | ArgumentSpec<unknown>>>

export const isArgument = <O extends { readonly data: OptionData }, A extends { readonly data: ArgumentData }>(
  spec: O | A
): spec is A => spec.data.kind === "argument"

interface Described {
  readonly data: OptionData | ArgumentData
  readonly also?: ReadonlyArray<OptionData>
}

export const syntaxOf = (specs: ReadonlyArray<Described>): Syntax => ({
  options: specs.flatMap(({ also = [], data }) => (data.kind === "option" ? [data, ...also] : also)),
  arguments: specs.flatMap(({ data }) => (data.kind === "argument" ? [data] : []))
})

const checkOf =
  <A>(name: string, { decode }: Codec<A>) =>
  (text: string): string | undefined =>
    Either.match(decode(name, text), { onLeft: identity, onRight: () => undefined })

const optionData = <A>(name: string, used: Codec<A>, description: string): OptionData => ({
  kind: "option",
  name,
  description,
  value: used.value,
  check: checkOf(`--${name}`, used),
  ...(used.choices === undefined ? {} : { choices: used.choices })
})

/** An option that can be left out. */
export const option = <A>(name: string, used: Codec<A>, description: string): OptionSpec<A | undefined> => ({
  data: optionData(name, used, description),
  decode: (texts) => (texts === undefined ? Either.right(undefined) : used.decode(`--${name}`, texts[0] ?? ""))
})

/** An option that may be given again. */
export const repeatedOption = <A>(name: string, used: Codec<A>, description: string): OptionSpec<ReadonlyArray<A>> => ({
  data: { ...optionData(name, used, description), isRepeatable: true },
  decode: (texts = []) => Either.all(texts.map((text) => used.decode(`--${name}`, text)))
})

/** An option that must be given. */
export const requiredOption = <A>(name: string, used: Codec<A>, description: string): OptionSpec<A> => ({
  data: { ...optionData(name, used, description), isRequired: true },
  decode: (texts) => used.decode(`--${name}`, texts?.[0] ?? "")
})

/**
 * An option whose value can be left out, which decodes as the empty text.
 *
 * @param value what the value is, for people.
 */
export const optionWithDefault = <A>(
  name: string,
  value: string,
  used: Codec<A>,
  description: string
): OptionSpec<A | undefined> => {
  const { data, decode } = option(name, used, description)
  return { data: { ...data, value, isValueOptional: true }, decode }
}

/** An option that is given with this data elsewhere too. Its value is checked by the settings. */
export const textOption = (data: OptionData): OptionSpec<string | undefined> => ({
  data,
  decode: (texts) => Either.right(texts?.[0])
})

/** An option without a value. */
export const flag = (name: string, description: string): OptionSpec<boolean> => ({
  data: { kind: "option", name, description },
  decode: (texts) => Either.right(texts !== undefined)
})

const argumentData = <A>(
  name: string,
  used: Codec<A>,
  description: string,
  least: number,
  most: number
): ArgumentData => ({
  kind: "argument",
  name,
  description,
  least,
  most,
  check: checkOf(name, used),
  ...(used.choices === undefined ? {} : { choices: used.choices })
})

export const argument = <A>(name: string, used: Codec<A>, description: string): ArgumentSpec<A> => ({
  data: argumentData(name, used, description, 1, 1),
  decode: ([word]) => used.decode(name, word?.text ?? "")
})

export const optionalArgument = <A>(
  name: string,
  used: Codec<A>,
  description: string
): ArgumentSpec<A | undefined> => ({
  data: argumentData(name, used, description, 0, 1),
  decode: ([word]) => (word === undefined ? Either.right(undefined) : used.decode(name, word.text))
})

/** Arguments of one kind, from `least` to `most` of them. */
export const argumentsOf = <A>(
  name: string,
  used: Codec<A>,
  { least, most }: { readonly least: number; readonly most: number },
  description: string
): ArgumentSpec<ReadonlyArray<A>> => ({
  data: argumentData(name, used, description, least, most),
  decode: (words) => Either.all(words.map(({ text }) => used.decode(name, text)))
})

/** The argument for a value. */
export interface SecretArgument {
  readonly value: Redacted.Redacted
  /** Whether it stood after `--`. */
  readonly isVerbatim: boolean
}

/** Optional arguments that may be secret values. Each is any text, also one that begins with a hyphen. */
export const secretArguments = (
  name: string,
  most: number,
  description: string
): ArgumentSpec<ReadonlyArray<SecretArgument>> => ({
  data: { kind: "argument", name, description, least: 0, most, isSecret: true },
  decode: (words) => Either.right(words.map(({ isVerbatim, text }) => ({ value: Redacted.make(text), isVerbatim })))
})

type Options = Readonly<Record<string, OptionSpec<unknown>>>

type OptionValues<O extends Options> = {
  readonly [Name in keyof O]: Either.Either.Right<ReturnType<O[Name]["decode"]>>
}

const oldData = ({ also = [], data }: OptionSpec<unknown>): ReadonlyArray<OptionData> =>
  [data, ...also].map((each) => ({ ...each, isOld: true, isRequired: false }))

function decodeAll<O extends Options>(options: O, given: Given): Either.Either<OptionValues<O>, string>
function decodeAll(options: Options, given: Given): Either.Either<object, string> {
  return Either.all(
    Object.fromEntries(
      Object.entries(options).map(([name, spec]) => [name, spec.decode(given.get(spec.data.name), given)])
    )
  )
}

/** An option that many commands have. */
export const common = <A>(spec: OptionSpec<A>): OptionSpec<A> => ({ ...spec, data: { ...spec.data, isCommon: true } })

/** An old option: it is read as ever, and no help and no completion shows it. */
export const old = <A>(spec: OptionSpec<A>): OptionSpec<A> => ({
  ...spec,
  data: { ...spec.data, isOld: true },
  ...(spec.also !== undefined && { also: spec.also.map((each) => ({ ...each, isOld: true })) })
})

/**
 * An argument that old options may stand in place of: where one of them is given, the command line does not have the argument.
 *
 * @param read makes the argument's value of those of the options; fails with a sentence.
 */
export const orOld = <A, const O extends Options>(
  spec: ArgumentSpec<A>,
  options: O,
  read: (values: OptionValues<O>) => Either.Either<NoInfer<A>, string>
): ArgumentSpec<A> => {
  const also = Object.values(options).flatMap(oldData)
  const names = also.map(({ name }) => name)
  return {
    data: { ...spec.data, instead: names },
    also,
    decode: (words, given) =>
      names.some((name) => given.has(name))
        ? Either.flatMap(decodeAll(options, given), read)
        : spec.decode(words, given)
  }
}

/** Options that give one value: the first by its name, and further ones, of which one at most is given. */
export const oneOf = <A>(
  first: OptionSpec<A | undefined>,
  ...others: ReadonlyArray<OptionSpec<A | undefined>>
): OptionSpec<A | undefined> => ({
  data: first.data,
  also: others.map(({ data }) => data),
  decode: (_texts, given) => {
    const [one, two] = [first, ...others].filter(({ data }) => given.has(data.name))
    if (one === undefined) return Either.right(undefined)
    return two === undefined
      ? one.decode(given.get(one.data.name), given)
      : Either.left(`--${one.data.name} and --${two.data.name} say the same: give one of them`)
  }
})

/** The same option or argument, completed with names of this kind. */
export const completedBy = <S extends { readonly data: OptionData | ArgumentData }>(names: NameKind, spec: S): S =>
  Object.assign(spec, { data: { ...spec.data, names } })

/** Any text. */
export const anyText: Codec<string> = { value: "text", description: "", decode: (_name, text) => Either.right(text) }

/** One of several words. */
export const choice = <const A extends string>(choices: ReadonlyArray<A>): Codec<A> => ({
  value: "text",
  choices,
  description: "",
  decode: (name, text) => {
    const chosen = choices.find((each) => each === text)
    return chosen === undefined ? Either.left(choiceProblem(name, choices, text)) : Either.right(chosen)
  }
})

/** A whole number within bounds. */
export const integer = ({ maximum, message, minimum }: IntegerForm): Codec<number> => ({
  value: "integer",
  description: "",
  decode: (name, text) => {
    const number = wholeNumber(text)
    return number >= minimum && number <= maximum ? Either.right(number) : Either.left(`${name} ${message}`)
  }
})

/** A whole number as it is written; anything else becomes NaN. */
export const wholeNumber = (text: string): number => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : NaN)
