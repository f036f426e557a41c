import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import { invalidValue } from "@effect/cli/ValidationError"
import { brokenRules, sentenceOf } from "@coffer/domain/BrokenRules"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { ArgumentData, NameKind, OptionData } from "./Data.js"
import { unmark } from "./Verbatim.js"
import { choiceProblem, type Word } from "./Words.js"

/** An option of a command: the parser's, with its data. */
export type OptionField<A> = Options.Options<A> & { readonly data: OptionData }

/** An argument of a command: the parser's, with its data. */
export type ArgumentField<A> = Args.Args<A> & { readonly data: ArgumentData }

/** The options and arguments of a command, by the names that its function uses. Arguments stand in this order. */
export type Fields = Readonly<Record<string, OptionField<unknown> | ArgumentField<unknown>>>

/** How the text of an option or an argument becomes a value. */
export interface Codec<A> {
  readonly value: "text" | "integer"
  readonly choices?: ReadonlyArray<string>
  readonly description: string
  /** Fails with a sentence that begins with `name`. */
  readonly decode: (name: string, text: string) => Either.Either<A, string>
}

/** A schema of the contract or of this program, or a codec of its own. */
type Source<A, I> = Schema.Schema<A, I> | Codec<A>

/**
 * What is wrong with an option or argument, by its name. The words are those of the contract's schemas: any others may hold
 * the value.
 *
 * @param takes what to say where the schema does not.
 */
const sentenceFor = (name: string, error: ParseResult.ParseError, takes: string): string => {
  const sentence = sentenceOf(error, `takes ${takes}`)
  if (/^(?:must|takes) /.test(sentence)) return `${name} ${sentence}`
  return sentence.startsWith("-") ? sentence : `${name}: ${sentence}`
}

/** The longest example that a description shows. */
const maxExample = 30

/** The contract's description of a schema, as the help shows it, with an example of a text. */
const descriptionOf = ({ ast }: Schema.Schema.All): string => {
  const description = Option.getOrElse(SchemaAST.getDescriptionAnnotation(ast), () => "").replaceAll("`", "")
  const [example] = Option.getOrElse(SchemaAST.getExamplesAnnotation(ast), () => [])
  const isShown = typeof example === "string" && example.length <= maxExample && !description.includes("such as")
  return description.charAt(0).toUpperCase() + description.slice(1) + (isShown ? `; for example ${example}` : "")
}

/** The texts of a union of literals. */
const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  const members = SchemaAST.isUnion(ast) ? ast.types : [ast]
  const literals = members.flatMap((member) =>
    SchemaAST.isLiteral(member) && typeof member.literal === "string" ? [member.literal] : []
  )
  return literals.length === members.length ? literals : undefined
}

const isNumber = (ast: SchemaAST.AST): boolean =>
  SchemaAST.isRefinement(ast) ? isNumber(ast.from) : SchemaAST.isNumberKeyword(ast)

const wholeNumber = (text: string) => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : NaN)

const codecOf = <A, I>(schema: Schema.Schema<A, I>): Codec<A> => {
  const description = descriptionOf(schema)
  const type = SchemaAST.typeAST(schema.ast)
  if (isNumber(type)) {
    const decode = (name: string, text: string) =>
      Either.mapLeft(Schema.decodeUnknownEither(Schema.typeSchema(schema))(wholeNumber(text)), (error) =>
        sentenceFor(name, error, "a whole number")
      )
    return { value: "integer", description, decode }
  }
  const choices = literalsOf(type)
  const decode = (name: string, text: string) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)(text), (error) =>
      choices === undefined ? sentenceFor(name, error, "another value") : choiceProblem(name, choices, text)
    )
  return { value: "text", description, decode, ...(choices === undefined ? {} : { choices }) }
}

const codec = <A, I>(source: Source<A, I>): Codec<A> => ("decode" in source ? source : codecOf(source))

/**
 * Several values, separated by commas.
 *
 * @param takes what the values are, for people.
 */
export const commas = <A, I>(
  schema: Schema.Schema<ReadonlyArray<A>, I>,
  takes: string,
  parse: (part: string) => unknown = (part) => part
): Codec<ReadonlyArray<A>> => ({
  value: "text",
  description: descriptionOf(schema),
  decode: (name, text) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)([...new Set(text.split(",").map(parse))]), (error) => {
      const ofItem = (brokenRules(error)[0]?.path.length ?? 0) > 0
      return ofItem ? `${name} takes ${takes}, separated by commas` : sentenceFor(name, error, takes)
    })
})

/** Parses a version number; anything else becomes NaN, which the schema rejects. */
export const versionNumber = (part: string): number => (/^[1-9][0-9]{0,9}$/.test(part) ? Number(part) : NaN)

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

const parserOf = <A>(name: string, { decode }: Codec<A>): Options.Options<A> =>
  Options.mapEffect(Options.text(name), (word) =>
    Either.mapLeft(decode(`--${name}`, unmark(word).text), (sentence) => invalidValue(HelpDoc.p(sentence)))
  )

const optional = <A>(parser: Options.Options<A>): Options.Options<A | undefined> =>
  Options.map(Options.optional(parser), Option.getOrUndefined)

/** An option with a value of this schema. Its description is the schema's, unless one is given. */
export const option = <A, I>(name: string, source: Source<A, I>, description?: string): OptionField<A | undefined> => {
  const used = codec(source)
  const data = optionData(name, used, description ?? used.description)
  return Object.assign(optional(parserOf(name, used)), { data })
}

/** An option that may be given again. */
export const repeatedOption = <A, I>(
  name: string,
  source: Source<A, I>,
  description: string
): OptionField<ReadonlyArray<A>> => {
  const used = codec(source)
  const data = { ...optionData(name, used, description), isRepeatable: true }
  const decode = (word: string) =>
    Either.mapLeft(used.decode(`--${name}`, unmark(word).text), (sentence) => invalidValue(HelpDoc.p(sentence)))
  // The toolkit repeats only options that are not mapped.
  const parser = Options.mapEffect(Options.repeated(Options.text(name)), (words) => Either.all(words.map(decode)))
  return Object.assign(parser, { data })
}

/** An option that must be given. */
export const requiredOption = <A, I>(name: string, source: Source<A, I>, description?: string): OptionField<A> => {
  const used = codec(source)
  const data = { ...optionData(name, used, description ?? used.description), isRequired: true }
  return Object.assign(parserOf(name, used), { data })
}

/**
 * An option whose value can be left out, which decodes as the empty text.
 *
 * @param value what the value is, for people.
 */
export const optionWithDefault = <A>(
  name: string,
  value: string,
  source: Codec<A>,
  description: string
): OptionField<A | undefined> =>
  Object.assign(optional(parserOf(name, source)), {
    data: { ...optionData(name, source, description), value, isValueOptional: true }
  })

/**
 * An option with a value of this schema that can be left out, which gives null. The value may be the next word, so the command
 * must have no arguments.
 *
 * @param value what the value is, for people.
 */
export const optionOrAlone = <A, I>(
  name: string,
  value: string,
  source: Source<A, I>,
  description: string
): OptionField<A | null | undefined> => {
  const { decode } = codec(source)
  const orNull = (option: string, text: string) => (text === "" ? Either.right(null) : decode(option, text))
  const used: Codec<A | null> = { value: "text", description, decode: orNull }
  return Object.assign(optional(parserOf(name, used)), {
    data: { ...optionData(name, used, description), value, isValueOptional: true, isValueNext: true }
  })
}

/** An option that is given with this data elsewhere too. Its value is checked by the settings. */
export const textOption = (data: OptionData): OptionField<string | undefined> =>
  Object.assign(optional(Options.map(Options.text(data.name), (word) => unmark(word).text)), { data })

/** An option without a value. */
export const flag = (name: string, description: string): OptionField<boolean> =>
  Object.assign(Options.boolean(name), { data: { kind: "option" as const, name, description } })

const argumentParser = <A>(name: string, { decode }: Codec<A>): Args.Args<A> =>
  Args.mapEffect(Args.text({ name }), (word) =>
    Either.mapLeft(decode(name, unmark(word).text), (sentence) => HelpDoc.p(sentence))
  )

const argumentData = <A>(
  name: string,
  used: Codec<A>,
  own: string | undefined,
  least: number,
  most: number
): ArgumentData => ({
  kind: "argument",
  name,
  description: own ?? used.description,
  least,
  most,
  check: checkOf(name, used),
  ...(used.choices === undefined ? {} : { choices: used.choices })
})

/** An argument with a value of this schema. Its description is the schema's, unless one is given. */
export const argument = <A, I>(name: string, source: Source<A, I>, description?: string): ArgumentField<A> => {
  const used = codec(source)
  return Object.assign(argumentParser(name, used), { data: argumentData(name, used, description, 1, 1) })
}

export const optionalArgument = <A, I>(
  name: string,
  source: Source<A, I>,
  description?: string
): ArgumentField<A | undefined> => {
  const used = codec(source)
  const parser = Args.map(Args.optional(argumentParser(name, used)), Option.getOrUndefined)
  return Object.assign(parser, { data: argumentData(name, used, description, 0, 1) })
}

/** Arguments of one kind, from `least` to `most` of them. */
export const argumentsOf = <A, I>(
  name: string,
  source: Source<A, I>,
  count: { readonly least: number; readonly most: number },
  description?: string
): ArgumentField<ReadonlyArray<A>> => {
  const used = codec(source)
  const parser = Args.between(argumentParser(name, used), count.least, count.most)
  return Object.assign(parser, { data: argumentData(name, used, description, count.least, count.most) })
}

/** The same option or argument, completed with names of this kind. */
export const completedBy = <F extends OptionField<unknown> | ArgumentField<unknown>>(names: NameKind, field: F): F =>
  Object.assign(field, { data: { ...field.data, names } })

/** An optional argument that may be a secret value. It is any text, also one that begins with a hyphen. */
export const secretArgument = (
  name: string,
  description: string
): ArgumentField<{ readonly value: Redacted.Redacted; readonly isVerbatim: boolean } | undefined> => {
  const decode = (word: Redacted.Redacted) => {
    const { isVerbatim, text }: Word = unmark(Redacted.value(word))
    return { value: Redacted.make(text), isVerbatim }
  }
  const parser = Args.map(Args.optional(Args.redacted({ name })), (word) =>
    Option.getOrUndefined(Option.map(word, decode))
  )
  return Object.assign(parser, {
    data: { kind: "argument" as const, name, description, least: 0, most: 1, isSecret: true }
  })
}
